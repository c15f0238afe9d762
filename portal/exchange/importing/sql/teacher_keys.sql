-- How a teacher is named: by name and department, which no two should share, but the first of an
-- account by the account.
SELECT DISTINCT ON (key) key, id FROM (
    SELECT teachers.id, CASE
        WHEN teachers.id = min(teachers.id) OVER (PARTITION BY accounts.id)
            AND accounts.id IS NOT NULL THEN '@' || accounts.username
        ELSE teachers.name || E'\t' || coalesce(departments.code, '')
    END AS key
    FROM teachers
    LEFT JOIN accounts ON accounts.id = teachers.account_id
    LEFT JOIN departments ON departments.id = teachers.department_id
    WHERE teachers.deleted_at IS NULL
) AS named ORDER BY key, id
