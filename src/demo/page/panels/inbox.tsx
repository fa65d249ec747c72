/** The visitor's inbox: threads of this board in which someone has answered or mentioned them. */
import { type InboxNotification, useComments, useRoom, useUnreadInboxNotificationsCount } from "atrium/react";
import { InboxNotificationList, type NotificationProps } from "atrium/react-ui";
import { useCallback, useEffect } from "react";
import { isNarrow } from "../canvas/camera.ts";
import Side from "./side.tsx";
import type { PanelProps } from "./threads.ts";

/** Shows the dock how many notifications are unread. */
export function Unread({ show }: { show(unread: number): void }) {
  const unread = useUnreadInboxNotificationsCount() ?? 0;
  useEffect(() => show(unread), [show, unread]);
  return null;
}

export default function Inbox({ close, setFocus }: PanelProps) {
  const { users } = useRoom().client;
  const [comments] = useComments();
  const resolvePerson = useCallback<NonNullable<NotificationProps["resolvePerson"]>>(
    async ({ data }) => {
      const userId = comments.find(({ id }) => id === data.commentId)?.user_id;
      if (userId === undefined) return null;
      await users.load({ userIds: [userId] });
      return users.get({ userId });
    },
    [users, comments],
  );
  const resolveText = useCallback(
    ({ thread_id }: InboxNotification) =>
      comments.findLast((comment) => comment.thread_id === thread_id)?.text,
    [comments],
  );
  const open = ({ thread_id: id }: InboxNotification) => {
    if (id === undefined) return;
    if (isNarrow()) close(); // a sheet covers the board
    setFocus({ type: "thread", id, isRevealed: false });
  };
  return (
    <Side title="Notifications" close={close}>
      <div className="side-body">
        <InboxNotificationList {...{ resolvePerson, resolveText }} onOpen={open} />
      </div>
    </Side>
  );
}
