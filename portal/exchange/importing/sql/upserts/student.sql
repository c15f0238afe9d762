INSERT INTO students (account_id, number, department_id, level, year, degree, campus, college,
    credit_limit, private)
SELECT accounts.id, key, departments.id, coalesce(after ->> 'level', 'Undergraduate'),
    coalesce(after ->> 'year', 'Freshman'), coalesce(after ->> 'degree', ''),
    coalesce(after ->> 'campus', ''), coalesce(after ->> 'college', ''),
    (after ->> 'credit_limit')::int / 100.0, coalesce((after ->> 'private')::boolean, false)
FROM changed_rows
JOIN accounts ON accounts.username = after ->> 'account'
LEFT JOIN departments ON departments.code = after ->> 'department'
ON CONFLICT (number) DO UPDATE SET account_id = excluded.account_id,
    department_id = excluded.department_id, level = excluded.level, year = excluded.year,
    degree = excluded.degree, campus = excluded.campus, college = excluded.college,
    credit_limit = excluded.credit_limit, private = excluded.private, deleted_at = NULL;

DELETE FROM student_subjects USING changed_rows JOIN students ON students.number = changed_rows.key
WHERE student_id = students.id;

INSERT INTO student_subjects (student_id, subject_id, kind)
SELECT DISTINCT students.id, subjects.id, listed.kind
FROM changed_rows
JOIN students ON students.number = changed_rows.key
CROSS JOIN (VALUES ('major'), ('minor')) AS listed(kind)
CROSS JOIN jsonb_array_elements_text(coalesce(after -> (listed.kind || 's'), '[]')) AS named(subject)
JOIN subjects ON subjects.code = named.subject;

DELETE FROM completed_courses USING changed_rows JOIN students ON students.number = changed_rows.key
WHERE student_id = students.id AND before -> 'completed' IS DISTINCT FROM after -> 'completed';

INSERT INTO completed_courses (student_id, course_code, term_name, grade, credits)
SELECT students.id, course ->> 0, course ->> 1, course ->> 2, (course ->> 3)::int / 100.0
FROM changed_rows
JOIN students ON students.number = changed_rows.key
CROSS JOIN jsonb_array_elements(after -> 'completed') AS listed(course)
WHERE before -> 'completed' IS DISTINCT FROM after -> 'completed';
