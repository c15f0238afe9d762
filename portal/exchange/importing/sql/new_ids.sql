-- A name for everything that no source has named: the same for as long as it is there.
INSERT INTO sourced_ids (kind, sourced_id, key)
SELECT kind, kind || '-' || md5(key), key FROM (
    SELECT 'org' AS kind, code AS key FROM departments WHERE deleted_at IS NULL
    UNION ALL SELECT 'subject', code FROM subjects WHERE deleted_at IS NULL
    UNION ALL SELECT 'session', name FROM terms WHERE deleted_at IS NULL
    UNION ALL SELECT 'course', code FROM courses WHERE deleted_at IS NULL
    UNION ALL SELECT 'class', section_keys.key FROM section_keys
        JOIN sections USING (id) WHERE deleted_at IS NULL
    UNION ALL SELECT 'user', username FROM accounts WHERE deleted_at IS NULL AND (
        EXISTS (SELECT FROM students WHERE account_id = accounts.id)
        OR EXISTS (SELECT FROM teachers WHERE account_id = accounts.id)
    )
) AS here
WHERE NOT EXISTS (
    SELECT FROM sourced_ids AS known WHERE known.kind = here.kind AND known.key = here.key
)
ON CONFLICT DO NOTHING;

-- A student is called as the user is.
INSERT INTO sourced_ids (kind, sourced_id, key)
SELECT 'student', known.sourced_id, number
FROM students JOIN accounts ON accounts.id = account_id
JOIN sourced_ids AS known ON known.kind = 'user' AND known.key = username
WHERE students.deleted_at IS NULL AND accounts.deleted_at IS NULL
ON CONFLICT (kind, sourced_id) DO NOTHING;
