ALTER TABLE `rooms` ADD `file_count` integer DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE `rooms` ADD `file_bytes` integer DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE `rooms` ADD `deleted_at` integer;--> statement-breakpoint
CREATE INDEX `rooms_deleted` ON `rooms` (`deleted_at`) WHERE deleted_at IS NOT NULL;--> statement-breakpoint
-- An organization may be on its way to another database: its fence is not to refuse what is counted here.
DROP TRIGGER `fence_update_of_rooms`;
--> statement-breakpoint
UPDATE `rooms` SET (`file_count`, `file_bytes`) = (SELECT count(*), coalesce(sum(`size`), 0) FROM `files` WHERE `files`.`account_id` = `rooms`.`account_id` AND `files`.`room_id` = `rooms`.`id` AND `files`.`state` = 'stored')
WHERE EXISTS (SELECT 1 FROM `files` WHERE `files`.`account_id` = `rooms`.`account_id` AND `files`.`room_id` = `rooms`.`id` AND `files`.`state` = 'stored');
--> statement-breakpoint
CREATE TRIGGER `fence_update_of_rooms` BEFORE UPDATE ON `rooms` WHEN EXISTS (SELECT 1 FROM `fences` WHERE `account_id` = old.`account_id`) BEGIN
  SELECT RAISE(ABORT, 'organization_is_fenced');
END;
--> statement-breakpoint
CREATE TRIGGER `rooms_after_insert_of_files` AFTER INSERT ON `files` WHEN new.`state` = 'stored' BEGIN
  UPDATE `rooms` SET `file_count` = `file_count` + 1, `file_bytes` = `file_bytes` + new.`size` WHERE `account_id` = new.`account_id` AND `id` = new.`room_id`;
END;
--> statement-breakpoint
CREATE TRIGGER `rooms_after_update_of_files` AFTER UPDATE OF `state`, `size` ON `files` WHEN old.`state` = 'stored' OR new.`state` = 'stored' BEGIN
  UPDATE `rooms` SET `file_count` = `file_count` + (new.`state` = 'stored') - (old.`state` = 'stored'), `file_bytes` = `file_bytes` + iif(new.`state` = 'stored', new.`size`, 0) - iif(old.`state` = 'stored', old.`size`, 0) WHERE `account_id` = new.`account_id` AND `id` = new.`room_id`;
END;
--> statement-breakpoint
CREATE TRIGGER `rooms_after_delete_of_files` AFTER DELETE ON `files` WHEN old.`state` = 'stored' BEGIN
  UPDATE `rooms` SET `file_count` = `file_count` - 1, `file_bytes` = `file_bytes` - old.`size` WHERE `account_id` = old.`account_id` AND `id` = old.`room_id`;
END;
--> statement-breakpoint
-- A deleted room is counted nowhere from then on, nor is what it leaves behind as that is removed: docs/decisions/0044.
CREATE TRIGGER `counts_after_marking_of_rooms` AFTER UPDATE OF `deleted_at` ON `rooms` WHEN old.`deleted_at` IS NULL AND new.`deleted_at` IS NOT NULL BEGIN
  UPDATE `quotas` SET `used` = `used` - CASE `quota` WHEN 'rooms' THEN 1 WHEN 'users' THEN new.`user_count` ELSE new.`file_bytes` END WHERE `account_id` = new.`account_id` AND `quota` IN ('rooms', 'users', 'file_bytes');
END;
--> statement-breakpoint
CREATE TRIGGER `search_after_marking_of_rooms` AFTER UPDATE OF `deleted_at` ON `rooms` WHEN old.`deleted_at` IS NULL AND new.`deleted_at` IS NOT NULL BEGIN
  UPDATE `search_lists` SET `state` = 'removed' WHERE `account_id` = new.`account_id` AND `room_id` = new.`id` AND `state` <> 'removed';
  DELETE FROM `search_items` WHERE `list` = (SELECT `number` FROM `search_lists` WHERE `account_id` = new.`account_id` AND `room_id` = '' AND `state` <> 'removed') AND `item` = new.`id`;
END;
--> statement-breakpoint
DROP TRIGGER `quotas_after_insert_of_rooms`;
--> statement-breakpoint
CREATE TRIGGER `quotas_after_insert_of_rooms` AFTER INSERT ON `rooms` WHEN new.`deleted_at` IS NULL BEGIN
  UPDATE `quotas` SET `used` = `used` + 1 WHERE `account_id` = new.`account_id` AND `quota` = 'rooms';
END;
--> statement-breakpoint
DROP TRIGGER `quotas_after_delete_of_rooms`;
--> statement-breakpoint
CREATE TRIGGER `quotas_after_delete_of_rooms` AFTER DELETE ON `rooms` WHEN old.`deleted_at` IS NULL BEGIN
  UPDATE `quotas` SET `used` = `used` - 1 WHERE `account_id` = old.`account_id` AND `quota` = 'rooms';
END;
--> statement-breakpoint
DROP TRIGGER `search_after_insert_of_rooms`;
--> statement-breakpoint
CREATE TRIGGER `search_after_insert_of_rooms` AFTER INSERT ON `rooms` WHEN EXISTS (SELECT 1 FROM `search_lists` WHERE `account_id` = new.`account_id` AND `room_id` = '' AND `state` <> 'removed') AND new.`deleted_at` IS NULL BEGIN
  INSERT INTO `search_items` (`doc`, `list`, `item`, `name`) SELECT 1 + coalesce((SELECT max(`doc`) FROM `search_items` WHERE `doc` BETWEEN `number` << 40 AND ((`number` + 1) << 40) - 1), `number` << 40), `number`, new.`id`, new.`name_folded` FROM `search_lists` WHERE `account_id` = new.`account_id` AND `room_id` = '' AND `state` <> 'removed';
END;
--> statement-breakpoint
DROP TRIGGER `quotas_after_insert_of_users`;
--> statement-breakpoint
CREATE TRIGGER `quotas_after_insert_of_users` AFTER INSERT ON `users` WHEN NOT EXISTS (SELECT 1 FROM `rooms` WHERE `account_id` = new.`account_id` AND `id` = new.`room_id` AND `deleted_at` IS NOT NULL) BEGIN
  UPDATE `quotas` SET `used` = `used` + 1 WHERE `account_id` = new.`account_id` AND `quota` = 'users';
END;
--> statement-breakpoint
DROP TRIGGER `quotas_after_delete_of_users`;
--> statement-breakpoint
CREATE TRIGGER `quotas_after_delete_of_users` AFTER DELETE ON `users` WHEN NOT EXISTS (SELECT 1 FROM `rooms` WHERE `account_id` = old.`account_id` AND `id` = old.`room_id` AND `deleted_at` IS NOT NULL) BEGIN
  UPDATE `quotas` SET `used` = `used` - 1 WHERE `account_id` = old.`account_id` AND `quota` = 'users';
END;
--> statement-breakpoint
DROP TRIGGER `quotas_after_insert_of_files`;
--> statement-breakpoint
CREATE TRIGGER `quotas_after_insert_of_files` AFTER INSERT ON `files` WHEN new.`state` = 'stored' AND NOT EXISTS (SELECT 1 FROM `rooms` WHERE `account_id` = new.`account_id` AND `id` = new.`room_id` AND `deleted_at` IS NOT NULL) BEGIN
  UPDATE `quotas` SET `used` = `used` + new.`size` WHERE `account_id` = new.`account_id` AND `quota` = 'file_bytes';
END;
--> statement-breakpoint
DROP TRIGGER `quotas_after_update_of_files`;
--> statement-breakpoint
CREATE TRIGGER `quotas_after_update_of_files` AFTER UPDATE OF `state`, `size` ON `files` WHEN (old.`state` = 'stored' OR new.`state` = 'stored') AND NOT EXISTS (SELECT 1 FROM `rooms` WHERE `account_id` = new.`account_id` AND `id` = new.`room_id` AND `deleted_at` IS NOT NULL) BEGIN
  UPDATE `quotas` SET `used` = `used` + iif(new.`state` = 'stored', new.`size`, 0) - iif(old.`state` = 'stored', old.`size`, 0) WHERE `account_id` = new.`account_id` AND `quota` = 'file_bytes';
END;
--> statement-breakpoint
DROP TRIGGER `quotas_after_delete_of_files`;
--> statement-breakpoint
CREATE TRIGGER `quotas_after_delete_of_files` AFTER DELETE ON `files` WHEN old.`state` = 'stored' AND NOT EXISTS (SELECT 1 FROM `rooms` WHERE `account_id` = old.`account_id` AND `id` = old.`room_id` AND `deleted_at` IS NOT NULL) BEGIN
  UPDATE `quotas` SET `used` = `used` - old.`size` WHERE `account_id` = old.`account_id` AND `quota` = 'file_bytes';
END;
