DELETE FROM section_teachers USING removed_rows
JOIN section_keys ON section_keys.key =
    split_part(removed_rows.key, E'\t', 1) || E'\t' || split_part(removed_rows.key, E'\t', 2)
JOIN teacher_keys ON section_keys.key || E'\t' || teacher_keys.key = removed_rows.key
WHERE section_id = section_keys.id AND teacher_id = teacher_keys.id;
