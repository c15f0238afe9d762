INSERT INTO sourced_ids (kind, sourced_id, key, modified)
SELECT split_part(key, E'\t', 1), split_part(key, E'\t', 2), after ->> 'key', after ->> 'modified'
FROM changed_rows
ON CONFLICT (kind, sourced_id) DO UPDATE SET key = excluded.key, modified = excluded.modified;
