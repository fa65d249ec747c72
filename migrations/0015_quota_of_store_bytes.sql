ALTER TABLE `rooms` ADD `store_bytes` integer DEFAULT 0 NOT NULL;
--> statement-breakpoint
INSERT INTO `quotas` (`account_id`, `quota`, `used`) SELECT `id`, 'store_bytes', 0 FROM `accounts`;
--> statement-breakpoint
CREATE TRIGGER `quota_of_store_bytes_of_new_account` AFTER INSERT ON `accounts` BEGIN
  INSERT INTO `quotas` (`account_id`, `quota`, `used`) VALUES (new.`id`, 'store_bytes', 0);
END;
--> statement-breakpoint
CREATE TRIGGER `quota_of_store_bytes_after_update_of_rooms` AFTER UPDATE OF `store_bytes` ON `rooms` WHEN old.`store_bytes` <> new.`store_bytes` BEGIN
  UPDATE `quotas` SET `used` = `used` + new.`store_bytes` - old.`store_bytes` WHERE `account_id` = new.`account_id` AND `quota` = 'store_bytes';
END;
--> statement-breakpoint
CREATE TRIGGER `quota_of_store_bytes_after_delete_of_rooms` AFTER DELETE ON `rooms` WHEN old.`store_bytes` <> 0 BEGIN
  UPDATE `quotas` SET `used` = `used` - old.`store_bytes` WHERE `account_id` = old.`account_id` AND `quota` = 'store_bytes';
END;
