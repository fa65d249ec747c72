/** `atrium/react-ui`: React components of rooms and inboxes, for use inside their providers, with `atrium/react-ui/styles.css`. */
"use client";

export { AvatarStack } from "./avatar-stack.tsx";
export { Comment } from "./comment.tsx";
export { Composer } from "./composer.tsx";
export { ConnectionStatus } from "./connection-status.tsx";
export { Cursors } from "./cursors.tsx";
export { InboxNotification, InboxNotificationList, type NotificationProps } from "./inbox.tsx";
export { type GroupInfo, type GroupResolver, useGroupInfo } from "./resolve.ts";
export { Suggestions } from "./suggestions.tsx";
export { AtriumTexts, type Texts } from "./texts.ts";
export { Thread } from "./thread.tsx";
export { VersionHistory } from "./version-history.tsx";
