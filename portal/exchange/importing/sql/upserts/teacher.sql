INSERT INTO teachers (id, account_id, name, title, email, department_id)
SELECT coalesce(known.id, nextval(pg_get_serial_sequence('teachers', 'id'))),
    accounts.id, after ->> 'name', '', coalesce(after ->> 'email', ''), departments.id
FROM changed_rows LEFT JOIN teacher_keys AS known USING (key)
LEFT JOIN accounts ON accounts.username = after ->> 'account'
LEFT JOIN departments ON departments.code = after ->> 'department'
ON CONFLICT (id) DO UPDATE SET name = excluded.name, email = excluded.email,
    department_id = excluded.department_id;
