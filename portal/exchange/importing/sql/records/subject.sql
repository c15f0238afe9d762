SELECT subjects.code AS key,
    jsonb_build_object('name', subjects.name, 'department', departments.code) AS fields
FROM subjects LEFT JOIN departments ON departments.id = department_id
WHERE subjects.deleted_at IS NULL
