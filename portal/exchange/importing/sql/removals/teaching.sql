DELETE FROM section_teachers USING gone
JOIN section_keys ON section_keys.key =
    split_part(gone.key, E'\t', 1) || E'\t' || split_part(gone.key, E'\t', 2)
JOIN teacher_keys ON section_keys.key || E'\t' || teacher_keys.key = gone.key
WHERE section_id = section_keys.id AND teacher_id = teacher_keys.id;
