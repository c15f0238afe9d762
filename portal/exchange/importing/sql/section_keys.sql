SELECT terms.name || E'\t' || crn AS key, sections.id
FROM sections JOIN terms ON terms.id = term_id
WHERE terms.deleted_at IS NULL
