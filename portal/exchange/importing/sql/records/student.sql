SELECT number AS key, jsonb_build_object(
    'account', username, 'department', departments.code, 'level', level, 'year', year,
    'degree', degree, 'campus', campus, 'college', college,
    'majors', majors.codes, 'minors', minors.codes,
    'credit_limit', (credit_limit * 100)::int, 'private', private, 'completed', completed.all
) AS fields
FROM students JOIN accounts ON accounts.id = account_id
LEFT JOIN departments ON departments.id = department_id
CROSS JOIN LATERAL (
    SELECT coalesce(jsonb_agg(code ORDER BY code COLLATE "C"), '[]') AS codes
    FROM student_subjects JOIN subjects ON subjects.id = subject_id
    WHERE student_id = students.id AND kind = 'major'
) AS majors
CROSS JOIN LATERAL (
    SELECT coalesce(jsonb_agg(code ORDER BY code COLLATE "C"), '[]') AS codes
    FROM student_subjects JOIN subjects ON subjects.id = subject_id
    WHERE student_id = students.id AND kind = 'minor'
) AS minors
CROSS JOIN LATERAL (
    SELECT coalesce(jsonb_agg(jsonb_build_array(
        course_code, term_name, grade, (credits * 100)::int
    ) ORDER BY course_code COLLATE "C"), '[]') AS all
    FROM completed_courses WHERE student_id = students.id
) AS completed
WHERE students.deleted_at IS NULL
