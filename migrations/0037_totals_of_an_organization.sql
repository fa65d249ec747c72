CREATE INDEX `rooms_joined` ON `rooms` (`account_id`,`first_join_at`) WHERE first_join_at IS NOT NULL;
--> statement-breakpoint
INSERT INTO `quotas` (`account_id`, `quota`, `used`) SELECT `id`, 'online_rooms', (SELECT count(*) FROM `rooms` WHERE `account_id` = `accounts`.`id` AND `active_participants` > 0) FROM `accounts`;
--> statement-breakpoint
CREATE TRIGGER `count_of_rooms_online_of_new_account` AFTER INSERT ON `accounts` BEGIN
  INSERT INTO `quotas` (`account_id`, `quota`, `used`) VALUES (new.`id`, 'online_rooms', 0);
END;
--> statement-breakpoint
CREATE TRIGGER `count_of_rooms_online_after_update_of_rooms` AFTER UPDATE OF `active_participants` ON `rooms` WHEN (old.`active_participants` > 0) <> (new.`active_participants` > 0) BEGIN
  UPDATE `quotas` SET `used` = `used` + iif(new.`active_participants` > 0, 1, -1) WHERE `account_id` = new.`account_id` AND `quota` = 'online_rooms';
END;
--> statement-breakpoint
CREATE TRIGGER `count_of_rooms_online_after_delete_of_rooms` AFTER DELETE ON `rooms` WHEN old.`active_participants` > 0 BEGIN
  UPDATE `quotas` SET `used` = `used` - 1 WHERE `account_id` = old.`account_id` AND `quota` = 'online_rooms';
END;
