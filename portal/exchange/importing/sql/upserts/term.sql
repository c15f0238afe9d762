INSERT INTO terms
    (name, starts_on, ends_on, credit_limit, drops_per_day, pass_limit, pass_codes, catalog_version)
SELECT key, (after ->> 'starts')::date, (after ->> 'ends')::date,
    coalesce((after ->> 'credit_limit')::int, 2100) / 100.0,
    coalesce((after ->> 'drops_per_day')::int, 3), (after ->> 'pass_limit')::int,
    ARRAY(SELECT jsonb_array_elements_text(coalesce(after -> 'pass_codes', '[]'))), 1
FROM changed_rows
ON CONFLICT (name) DO UPDATE SET starts_on = excluded.starts_on,
    ends_on = excluded.ends_on, credit_limit = excluded.credit_limit,
    drops_per_day = excluded.drops_per_day, pass_limit = excluded.pass_limit,
    pass_codes = excluded.pass_codes, deleted_at = NULL;
