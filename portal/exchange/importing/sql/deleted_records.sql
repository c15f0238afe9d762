SELECT 'department' AS kind, code AS key FROM departments WHERE deleted_at IS NOT NULL
UNION ALL SELECT 'subject', code FROM subjects WHERE deleted_at IS NOT NULL
UNION ALL SELECT 'course', code FROM courses WHERE deleted_at IS NOT NULL
UNION ALL SELECT 'term', name FROM terms WHERE deleted_at IS NOT NULL
UNION ALL SELECT 'account', username FROM accounts WHERE deleted_at IS NOT NULL
UNION ALL SELECT 'student', number FROM students WHERE deleted_at IS NOT NULL
UNION ALL SELECT 'section', terms.name || E'\t' || crn
    FROM sections JOIN terms ON terms.id = term_id
    WHERE sections.deleted_at IS NOT NULL OR terms.deleted_at IS NOT NULL
