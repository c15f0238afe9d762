-- How a teacher is named: by name and department, which no two should share, but the first of an
-- account by the account.
SELECT DISTINCT ON (key) key, id FROM (
    SELECT instructors.id, CASE
        WHEN instructors.id = min(instructors.id) OVER (PARTITION BY accounts.id)
            AND accounts.id IS NOT NULL THEN '@' || accounts.username
        ELSE instructors.name || E'\t' || coalesce(departments.code, '')
    END AS key
    FROM instructors
    LEFT JOIN accounts ON accounts.id = instructors.account_id
    LEFT JOIN departments ON departments.id = instructors.department_id
    WHERE instructors.deleted_at IS NULL
) AS named ORDER BY key, id
