SELECT keys.key, jsonb_build_object(
    'name', teachers.name, 'email', teachers.email, 'department', departments.code,
    'account', CASE WHEN starts_with(keys.key, '@') THEN username END
) AS fields
FROM teacher_keys AS keys JOIN teachers USING (id)
LEFT JOIN accounts ON accounts.id = teachers.account_id
LEFT JOIN departments ON departments.id = teachers.department_id
