SELECT name AS key, jsonb_build_object(
    'starts', starts_on, 'ends', ends_on, 'credit_limit', (credit_limit * 100)::int,
    'drops_per_day', drops_per_day, 'pass_limit', pass_limit, 'pass_codes', pass_codes
) AS fields
FROM terms WHERE deleted_at IS NULL
