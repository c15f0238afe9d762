UPDATE sections SET status = 'CANCELED', version = version + 1
FROM removed_rows JOIN section_keys USING (key)
WHERE sections.id = section_keys.id;
