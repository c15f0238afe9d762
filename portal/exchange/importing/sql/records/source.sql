SELECT kind || E'\t' || sourced_id AS key,
    jsonb_strip_nulls(jsonb_build_object('key', key, 'modified', modified)) AS fields
FROM sourced_ids
