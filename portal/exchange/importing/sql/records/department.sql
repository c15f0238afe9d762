SELECT code AS key, jsonb_build_object('name', name, 'school', school) AS fields
FROM departments WHERE deleted_at IS NULL
