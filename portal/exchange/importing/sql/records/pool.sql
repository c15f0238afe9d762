SELECT terms.name || E'\t' || pools.name AS key, jsonb_build_object('capacity', capacity) AS fields
FROM pools JOIN terms ON terms.id = term_id WHERE terms.deleted_at IS NULL
