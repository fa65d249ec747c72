CREATE TRIGGER `fence_insert_of_notification_defaults` BEFORE INSERT ON `notification_defaults` WHEN EXISTS (SELECT 1 FROM `fences` WHERE `account_id` = new.`account_id`) BEGIN
  SELECT RAISE(ABORT, 'organization_is_fenced');
END;
--> statement-breakpoint
CREATE TRIGGER `fence_update_of_notification_defaults` BEFORE UPDATE ON `notification_defaults` WHEN EXISTS (SELECT 1 FROM `fences` WHERE `account_id` = old.`account_id`) BEGIN
  SELECT RAISE(ABORT, 'organization_is_fenced');
END;
--> statement-breakpoint
CREATE TRIGGER `fence_delete_of_notification_defaults` BEFORE DELETE ON `notification_defaults` WHEN EXISTS (SELECT 1 FROM `fences` WHERE `account_id` = old.`account_id`) BEGIN
  SELECT RAISE(ABORT, 'organization_is_fenced');
END;
