ALTER TABLE `rooms` ADD `user_count` integer DEFAULT 0 NOT NULL;
--> statement-breakpoint
UPDATE `rooms` SET `user_count` = (SELECT count(*) FROM `users` WHERE `users`.`account_id` = `rooms`.`account_id` AND `users`.`room_id` = `rooms`.`id`);
--> statement-breakpoint
CREATE TRIGGER `rooms_after_insert_of_users` AFTER INSERT ON `users` BEGIN
  UPDATE `rooms` SET `user_count` = `user_count` + 1 WHERE `account_id` = new.`account_id` AND `id` = new.`room_id`;
END;
--> statement-breakpoint
CREATE TRIGGER `rooms_after_delete_of_users` AFTER DELETE ON `users` BEGIN
  UPDATE `rooms` SET `user_count` = `user_count` - 1 WHERE `account_id` = old.`account_id` AND `id` = old.`room_id`;
END;
