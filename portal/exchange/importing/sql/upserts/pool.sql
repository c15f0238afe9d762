INSERT INTO pools (term_id, name, capacity, version)
SELECT terms.id, split_part(key, E'\t', 2), (after ->> 'capacity')::int, 1
FROM changed_rows JOIN terms ON terms.name = split_part(key, E'\t', 1)
ON CONFLICT (term_id, name) DO UPDATE
SET capacity = excluded.capacity, version = pools.version + 1;

-- Each section carries its pool to the ledger.
UPDATE sections SET version = sections.version + 1
FROM changed_rows JOIN terms ON terms.name = split_part(key, E'\t', 1)
JOIN pools ON pools.term_id = terms.id AND pools.name = split_part(key, E'\t', 2)
WHERE pool_id = pools.id;
