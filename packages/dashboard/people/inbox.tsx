/** The inbox of an identity, and its deliveries by channel, with reasons for missing ones. */
import type { Identity, InboxNotification, SentNotifications } from "atrium/server";
import { useState } from "react";
import { Link } from "wouter";
import { chosen } from "../data/filters.ts";
import { useApiQuery } from "../data/organization.tsx";
import { ActionButton } from "../ui/dialog.tsx";
import { Badge, type BadgeProps, Loaded } from "../ui/feedback.tsx";
import { Section } from "../ui/page.tsx";
import { type Column, CursorPager, Table } from "../ui/table.tsx";
import { Time } from "../ui/time.tsx";

interface InboxProps {
  readonly identity: Pick<Identity, "id" | "name">;
}

const REFRESH_MS = 15_000;
const SHOWN = 10;

/** A subject by its kind, with a link to its room. */
function Subject({
  kind,
  room_id: roomId,
  subject_id: subjectId,
}: Pick<InboxNotification, "kind" | "room_id" | "subject_id">) {
  const text = `${kind} ${subjectId}`;
  if (roomId === null) return <span className="long">{text}</span>;
  const page = kind === "thread" ? "/comments" : "";
  return (
    <Link className="long" href={`/rooms/${roomId}${page}`}>
      {text}
    </Link>
  );
}

export function Inbox({ identity: { id, name } }: InboxProps) {
  const [after, goAfter] = useState("");
  const part = { limit: SHOWN, ...chosen({ after }) };
  const query = useApiQuery(["identity", id, "inbox", part], (atrium) => atrium.inbox(id).list(part), {
    refetchInterval: REFRESH_MS,
  });
  const options = { refreshes: [["identity", id, "inbox"]] };
  const columns: readonly Column<InboxNotification>[] = [
    { label: "Subject", cell: (notification) => <Subject {...notification} /> },
    {
      label: "State",
      cell: ({ unread }) => <Badge tone={unread ? "waiting" : "plain"}>{unread ? "unread" : "read"}</Badge>,
    },
    { label: "Activities", className: "number", cell: ({ activities }) => activities.length },
    { label: "Latest", cell: ({ notified_at: at }) => <Time at={at} /> },
    {
      label: "Actions",
      className: "row-actions",
      cell: ({ id: notificationId, unread, subject_id: subjectId }) =>
        unread && (
          <ActionButton
            label="Mark as read"
            accessibleName={`Mark as read: ${subjectId}`}
            act={(atrium) => atrium.inbox(id).markRead(notificationId)}
            options={{ ...options, toast: "Marked as read" }}
          />
        ),
    },
  ];
  return (
    <Section
      id="inbox"
      title="Inbox"
      about={`What ${name} sees now. Rooms that ${name} cannot enter are left out.`}
    >
      <Loaded query={query} shape="list">
        {({ notifications, cursor }) => (
          <>
            <Table label="Notifications" items={notifications} idOf={(one) => one.id} columns={columns} />
            {notifications.length === 0 && (
              <p className="soft">
                Nothing in the inbox. Threads that concern the identity are here, and what your back end
                triggers.
              </p>
            )}
            <CursorPager filters={{ after, goAfter }} cursor={cursor} />
          </>
        )}
      </Loaded>
    </Section>
  );
}

type Outcome = SentNotifications["outcome"];

const OUTCOMES: Readonly<Record<Outcome, readonly [BadgeProps["tone"], string]>> = {
  sent: ["good", "sent"],
  waiting: ["waiting", "on its way"],
  read: ["plain", "not sent: read before"],
  no_access: ["plain", "not sent: may not enter the room"],
  unwanted: ["plain", "not sent: not wanted"],
  online: ["plain", "not sent: was in the room"],
  no_address: ["plain", "not sent: no email address or browser"],
  unavailable: ["plain", "not sent: the service sends none"],
  limit: ["bad", "not sent: too many in a day"],
  failed: ["bad", "not sent: failed for good"],
  unknown: ["bad", "not known whether it was sent"],
};
const CHANNELS: Readonly<Record<SentNotifications["channel"], string>> = {
  email: "Mail",
  webPush: "Push",
};

const SENT: readonly Column<SentNotifications>[] = [
  { label: "Channel", cell: ({ channel }) => CHANNELS[channel] },
  { label: "Time", cell: ({ at }) => <Time at={at} /> },
  {
    label: "Outcome",
    cell: ({ outcome }) => {
      const [tone, text] = OUTCOMES[outcome];
      return <Badge tone={tone}>{text}</Badge>;
    },
  },
  {
    label: "Notifications",
    cell: ({ notifications }) => (
      <ul>
        {notifications.map((each) => (
          <li key={each.id}>
            <Subject {...each} />
          </li>
        ))}
      </ul>
    ),
  },
];

export function Sent({ identity: { id } }: InboxProps) {
  const query = useApiQuery(["identity", id, "sent"], (atrium) => atrium.inbox(id).listSent(), {
    refetchInterval: REFRESH_MS,
  });
  return (
    <Section
      id="sent"
      title="Sent"
      about="Unread notifications that were sent, and why others were not. Notifications that were read in time are not listed, nor are pushes without a subscribed browser."
    >
      <Loaded query={query} shape="list">
        {(sent) => (
          <>
            <Table label="Sent notifications" items={sent} idOf={(one) => one.id} columns={SENT} />
            {sent.length === 0 && (
              <p className="soft">
                Nothing was to be sent. A notification that stays unread for 15 minutes is sent by mail.
              </p>
            )}
          </>
        )}
      </Loaded>
    </Section>
  );
}
