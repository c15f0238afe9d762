INSERT INTO section_teachers (section_id, teacher_id)
SELECT section_keys.id, teacher_keys.id
FROM changed_rows
JOIN section_keys ON section_keys.key =
    split_part(changed_rows.key, E'\t', 1) || E'\t' || split_part(changed_rows.key, E'\t', 2)
JOIN teacher_keys ON section_keys.key || E'\t' || teacher_keys.key = changed_rows.key;
