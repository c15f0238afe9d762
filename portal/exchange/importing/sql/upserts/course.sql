INSERT INTO courses (code, subject_id, department_id, title, description, offered,
    credits_min, credits_max, categories, public, levels, years)
SELECT key, subjects.id, departments.id, coalesce(after ->> 'title', key),
    coalesce(after ->> 'description', ''), coalesce(after ->> 'offered', ''),
    coalesce((after -> 'credits' ->> 0)::int, 0) / 100.0,
    coalesce((after -> 'credits' ->> 1)::int, 0) / 100.0,
    ARRAY(SELECT jsonb_array_elements_text(coalesce(after -> 'categories', '[]'))),
    true, '{}', '{}'
FROM changed_rows
JOIN subjects ON subjects.code = after ->> 'subject'
JOIN departments ON departments.code = after ->> 'department'
ON CONFLICT (code) DO UPDATE SET subject_id = excluded.subject_id,
    department_id = excluded.department_id, title = excluded.title,
    description = excluded.description, offered = excluded.offered,
    credits_min = excluded.credits_min, credits_max = excluded.credits_max,
    categories = excluded.categories, deleted_at = NULL;
