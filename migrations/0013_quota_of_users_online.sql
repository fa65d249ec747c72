INSERT INTO `quotas` (`account_id`, `quota`, `used`) SELECT `id`, 'online_users', (SELECT coalesce(sum(`active_participants`), 0) FROM `rooms` WHERE `account_id` = `accounts`.`id`) FROM `accounts`;
--> statement-breakpoint
CREATE TRIGGER `quota_of_users_online_of_new_account` AFTER INSERT ON `accounts` BEGIN
  INSERT INTO `quotas` (`account_id`, `quota`, `used`) VALUES (new.`id`, 'online_users', 0);
END;
--> statement-breakpoint
CREATE TRIGGER `quota_of_users_online_after_update_of_rooms` AFTER UPDATE OF `active_participants` ON `rooms` WHEN old.`active_participants` <> new.`active_participants` BEGIN
  UPDATE `quotas` SET `used` = `used` + new.`active_participants` - old.`active_participants` WHERE `account_id` = new.`account_id` AND `quota` = 'online_users';
END;
--> statement-breakpoint
CREATE TRIGGER `quota_of_users_online_after_delete_of_rooms` AFTER DELETE ON `rooms` WHEN old.`active_participants` <> 0 BEGIN
  UPDATE `quotas` SET `used` = `used` - old.`active_participants` WHERE `account_id` = old.`account_id` AND `quota` = 'online_users';
END;
