SELECT terms.name || E'\t' || crn || E'\t' || keys.key AS key, '{}'::jsonb AS fields
FROM section_teachers JOIN sections ON sections.id = section_id
JOIN terms ON terms.id = term_id JOIN teacher_keys AS keys ON keys.id = teacher_id
WHERE sections.deleted_at IS NULL AND terms.deleted_at IS NULL
