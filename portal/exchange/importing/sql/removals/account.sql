UPDATE accounts SET deleted_at = now(), session_epoch = session_epoch + 1
FROM removed_rows WHERE accounts.username = removed_rows.key AND NOT is_admin;
