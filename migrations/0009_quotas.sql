CREATE TABLE `quotas` (
	`account_id` text NOT NULL,
	`quota` text NOT NULL,
	`used` integer NOT NULL,
	`max` integer,
	PRIMARY KEY(`account_id`, `quota`),
	FOREIGN KEY (`account_id`) REFERENCES `accounts`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
INSERT INTO `quotas` (`account_id`, `quota`, `used`) SELECT `id`, 'rooms', (SELECT count(*) FROM `rooms` WHERE `account_id` = `accounts`.`id`) FROM `accounts`;
--> statement-breakpoint
INSERT INTO `quotas` (`account_id`, `quota`, `used`) SELECT `id`, 'users', (SELECT count(*) FROM `users` WHERE `account_id` = `accounts`.`id`) FROM `accounts`;
--> statement-breakpoint
INSERT INTO `quotas` (`account_id`, `quota`, `used`) SELECT `id`, 'webhooks', (SELECT count(*) FROM `webhooks` WHERE `account_id` = `accounts`.`id`) FROM `accounts`;
--> statement-breakpoint
INSERT INTO `quotas` (`account_id`, `quota`, `used`) SELECT `id`, 'workflows', (SELECT count(*) FROM `workflows` WHERE `account_id` = `accounts`.`id`) FROM `accounts`;
--> statement-breakpoint
INSERT INTO `quotas` (`account_id`, `quota`, `used`) SELECT `id`, 'file_bytes', (SELECT coalesce(sum(`size`), 0) FROM `files` WHERE `account_id` = `accounts`.`id` AND `state` = 'stored') FROM `accounts`;
--> statement-breakpoint
CREATE TRIGGER `quotas_of_new_account` AFTER INSERT ON `accounts` BEGIN
  INSERT INTO `quotas` (`account_id`, `quota`, `used`) VALUES (new.`id`, 'rooms', 0), (new.`id`, 'users', 0), (new.`id`, 'webhooks', 0), (new.`id`, 'workflows', 0), (new.`id`, 'file_bytes', 0);
END;
--> statement-breakpoint
CREATE TRIGGER `quotas_after_insert_of_rooms` AFTER INSERT ON `rooms` BEGIN
  UPDATE `quotas` SET `used` = `used` + 1 WHERE `account_id` = new.`account_id` AND `quota` = 'rooms';
END;
--> statement-breakpoint
CREATE TRIGGER `quotas_after_delete_of_rooms` AFTER DELETE ON `rooms` BEGIN
  UPDATE `quotas` SET `used` = `used` - 1 WHERE `account_id` = old.`account_id` AND `quota` = 'rooms';
END;
--> statement-breakpoint
CREATE TRIGGER `quotas_after_insert_of_users` AFTER INSERT ON `users` BEGIN
  UPDATE `quotas` SET `used` = `used` + 1 WHERE `account_id` = new.`account_id` AND `quota` = 'users';
END;
--> statement-breakpoint
CREATE TRIGGER `quotas_after_delete_of_users` AFTER DELETE ON `users` BEGIN
  UPDATE `quotas` SET `used` = `used` - 1 WHERE `account_id` = old.`account_id` AND `quota` = 'users';
END;
--> statement-breakpoint
CREATE TRIGGER `quotas_after_insert_of_webhooks` AFTER INSERT ON `webhooks` BEGIN
  UPDATE `quotas` SET `used` = `used` + 1 WHERE `account_id` = new.`account_id` AND `quota` = 'webhooks';
END;
--> statement-breakpoint
CREATE TRIGGER `quotas_after_delete_of_webhooks` AFTER DELETE ON `webhooks` BEGIN
  UPDATE `quotas` SET `used` = `used` - 1 WHERE `account_id` = old.`account_id` AND `quota` = 'webhooks';
END;
--> statement-breakpoint
CREATE TRIGGER `quotas_after_insert_of_workflows` AFTER INSERT ON `workflows` BEGIN
  UPDATE `quotas` SET `used` = `used` + 1 WHERE `account_id` = new.`account_id` AND `quota` = 'workflows';
END;
--> statement-breakpoint
CREATE TRIGGER `quotas_after_delete_of_workflows` AFTER DELETE ON `workflows` BEGIN
  UPDATE `quotas` SET `used` = `used` - 1 WHERE `account_id` = old.`account_id` AND `quota` = 'workflows';
END;
--> statement-breakpoint
CREATE TRIGGER `quotas_after_insert_of_files` AFTER INSERT ON `files` WHEN new.`state` = 'stored' BEGIN
  UPDATE `quotas` SET `used` = `used` + new.`size` WHERE `account_id` = new.`account_id` AND `quota` = 'file_bytes';
END;
--> statement-breakpoint
CREATE TRIGGER `quotas_after_update_of_files` AFTER UPDATE OF `state`, `size` ON `files` WHEN old.`state` = 'stored' OR new.`state` = 'stored' BEGIN
  UPDATE `quotas` SET `used` = `used` + iif(new.`state` = 'stored', new.`size`, 0) - iif(old.`state` = 'stored', old.`size`, 0) WHERE `account_id` = new.`account_id` AND `quota` = 'file_bytes';
END;
--> statement-breakpoint
CREATE TRIGGER `quotas_after_delete_of_files` AFTER DELETE ON `files` WHEN old.`state` = 'stored' BEGIN
  UPDATE `quotas` SET `used` = `used` - old.`size` WHERE `account_id` = old.`account_id` AND `quota` = 'file_bytes';
END;
