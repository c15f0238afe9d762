-- What identifiers stand for: as changed_rows files say, else as earlier ones did.
SELECT DISTINCT ON (kind, sourced_id) kind, sourced_id, key FROM (
    SELECT split_part(key, E'\t', 1) AS kind, split_part(key, E'\t', 2) AS sourced_id,
        fields ->> 'key' AS key, 0 AS rank
    FROM import_rows WHERE import_id = :id AND kind = 'source'
    UNION ALL
    SELECT kind, sourced_id, key, 1 FROM sourced_ids
) AS named ORDER BY kind, sourced_id, rank
