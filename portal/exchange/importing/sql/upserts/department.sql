INSERT INTO departments (code, name, school)
SELECT key, coalesce(after ->> 'name', key), coalesce(after ->> 'school', '') FROM changed_rows
ON CONFLICT (code) DO UPDATE
SET name = excluded.name, school = excluded.school, deleted_at = NULL;
