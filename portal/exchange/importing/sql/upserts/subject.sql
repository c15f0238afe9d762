INSERT INTO subjects (code, name, department_id)
SELECT key, coalesce(after ->> 'name', key), departments.id FROM changed_rows
LEFT JOIN departments ON departments.code = after ->> 'department'
ON CONFLICT (code) DO UPDATE
SET name = excluded.name, department_id = excluded.department_id, deleted_at = NULL;
