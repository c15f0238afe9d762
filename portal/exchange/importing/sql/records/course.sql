SELECT courses.code AS key, jsonb_build_object(
    'subject', subjects.code, 'department', departments.code, 'title', title,
    'description', description, 'offered', offered, 'categories', categories,
    'credits', jsonb_build_array((credits_min * 100)::int, (credits_max * 100)::int)
) AS fields
FROM courses JOIN subjects ON subjects.id = subject_id
JOIN departments ON departments.id = courses.department_id
WHERE courses.deleted_at IS NULL
