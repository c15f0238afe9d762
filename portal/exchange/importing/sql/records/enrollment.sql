SELECT section_keys.key || E'\t' || students.number AS key,
    jsonb_build_object('credits', credits) AS fields
FROM enrollments
JOIN section_keys ON section_keys.id = section_id
JOIN students ON students.id = student_id
WHERE state = 'enrolled'
