/** `InboxNotificationList` and `InboxNotification`: what has happened for a person in all rooms. */
import { type MouseEvent, type ReactNode, useEffect, useId, useLayoutEffect, useRef, useState } from "react";
import {
  type InboxFilter,
  type InboxNotification as Notification,
  useDeleteInboxNotification,
  useInboxNotifications,
  useMarkInboxNotificationAsRead,
  useUnreadInboxNotificationsCount,
} from "../react/index.ts";
import { Avatar } from "./avatar.tsx";
import { type Resolver, useResolved } from "./resolve.ts";
import { type Attempts, Failure, LoadFailure, useAttempts } from "./room.tsx";
import { useTexts } from "./texts.ts";
import { Time } from "./time.tsx";

type Activity = Notification["activities"][number];

interface KnownPerson {
  readonly name: string;
  readonly picture?: string | undefined;
}

/** Notifications have IDs alone: the application resolves them. Keep these functions the same between renders. */
export interface NotificationProps {
  /** The person who has caused an activity: its `created_by`. */
  readonly resolvePerson?: Resolver<Activity, KnownPerson> | undefined;
  /** The name of a room by its ID. */
  readonly resolveRoom?: Resolver<string, string> | undefined;
  /** An excerpt, such as the text of the thread's latest comment. */
  readonly resolveText?: Resolver<Notification, string> | undefined;
  /** The address that a notification leads to. */
  readonly hrefOf?: ((notification: Notification) => string | undefined) | undefined;
  /** Called when a notification is chosen, which also marks it as read. */
  readonly onOpen?: ((notification: Notification, event: MouseEvent) => void) | undefined;
  /** Titles by kind: for your own, such as `$invoice`, or to replace those of `thread` and `textMention`. */
  readonly kinds?: Readonly<Record<string, (notification: Notification) => ReactNode>> | undefined;
}

interface InboxNotificationProps extends NotificationProps {
  readonly notification: Notification;
}

/** One notification, inside an `AtriumProvider`. Deletes it at once. */
export function InboxNotification(props: InboxNotificationProps): ReactNode {
  const attempts = useAttempts();
  const remove = useDeleteInboxNotification();
  const { id } = props.notification;
  return (
    <div className="atrium">
      <Item {...props} {...attempts} remove={() => void attempts.attempt(() => remove(id))} />
      <Failure {...attempts} />
    </div>
  );
}

/** The unread activities; all of them if none is unread. */
const newActivities = ({ activities, unread, read_seq }: Notification): readonly Activity[] =>
  unread ? activities.filter(({ seq }) => seq > read_seq) : activities;

const idOf = ({ created_by }: Activity): string => created_by ?? "";

/** Moves the focus on before its control leaves: to the notification behind it or before it, or to the list. */
function focusNeighbor(control: HTMLElement): void {
  const list = control.closest<HTMLElement>(".atrium-inbox");
  const others = [...(list?.querySelectorAll<HTMLElement>(".atrium-delete") ?? [])].filter(
    (button) => button !== control,
  );
  const isBehind = (button: HTMLElement) =>
    control.compareDocumentPosition(button) & Node.DOCUMENT_POSITION_FOLLOWING;
  (others.find(isBehind) ?? others.at(-1) ?? list)?.focus();
}

interface ItemProps extends InboxNotificationProps, Pick<Attempts, "attempt"> {
  remove(): void;
}

function Item(props: ItemProps) {
  const { notification, resolvePerson, resolveRoom, resolveText, hrefOf, onOpen, kinds } = props;
  const { attempt, remove } = props;
  const { id, kind, room_id, subject_id, seq, unread, notified_at } = notification;
  const texts = useTexts();
  const markAsRead = useMarkInboxNotificationAsRead();
  const titleId = useId();
  const deletion = useRef<HTMLButtonElement>(null);
  const byPerson = new Map(newActivities(notification).map((activity) => [idOf(activity), activity]));
  byPerson.delete(""); // the application's back end
  const people = useResolved(resolvePerson, [...byPerson.values()], idOf);
  const [room] = useResolved(resolveRoom, room_id === null ? [] : [room_id], String);
  const [text] = useResolved(resolveText, [notification], () => `${id} ${seq}`);
  const names = people.flatMap((person) => person?.name ?? []);
  const title = () => {
    if (kind === "thread") return texts.commented(names, room ?? null);
    if (kind === "textMention") return texts.mentionedYou(names, room ?? null);
    return `${kind.slice(1)} ${subject_id}`;
  };
  const content = kinds?.[kind]?.(notification) ?? title();
  const href = hrefOf?.(notification);
  const read = () => void attempt(() => markAsRead(id, seq));
  const open = (event: MouseEvent) => {
    onOpen?.(notification, event);
    if (unread) read();
  };
  return (
    <article className="atrium-comment" aria-labelledby={titleId} data-unread={unread}>
      <Avatar name={names[0] ?? kind.replace("$", "")} picture={people[0]?.picture} />
      <header>
        {href !== undefined && (
          <a id={titleId} href={href} onClick={open}>
            {content}
          </a>
        )}
        {href === undefined && onOpen !== undefined && (
          <button id={titleId} type="button" className="atrium-link" onClick={open}>
            {content}
          </button>
        )}
        {href === undefined && onOpen === undefined && <span id={titleId}>{content}</span>}
        {unread && <span className="atrium-unread">{texts.unread}</span>}
        <Time at={notified_at} />
      </header>
      {text && (
        <p className="atrium-text" dir="auto">
          {text}
        </p>
      )}
      <div className="atrium-own">
        {unread && (
          <button
            type="button"
            aria-describedby={titleId}
            onClick={() => {
              deletion.current?.focus(); // the focused button disappears
              read();
            }}
          >
            {texts.markAsRead}
          </button>
        )}
        <button
          ref={deletion}
          type="button"
          className="atrium-delete"
          aria-describedby={titleId}
          onClick={({ currentTarget }) => {
            focusNeighbor(currentTarget);
            remove();
          }}
        >
          {texts.delete}
        </button>
      </div>
    </article>
  );
}

const UNDO_MS = 6_000;

interface Deletions {
  /** The `seq` of each deleted notification: a later activity takes the deletion back. */
  readonly seqs: ReadonlyMap<string, number>;
  add(notification: Notification): void;
  undo(id: string): void;
}

/** Deletions that can be undone for a while. They take effect after it, or when the list or the page is left. */
function useDeletions(notifications: readonly Notification[], make: (id: string) => void): Deletions {
  const [seqs, setSeqs] = useState<ReadonlyMap<string, number>>(new Map());
  const timers = useRef(new Map<string, ReturnType<typeof setTimeout>>());
  /** False if it has ended already. */
  const end = (id: string): boolean => {
    clearTimeout(timers.current.get(id));
    setSeqs((before) => new Map([...before].filter(([other]) => other !== id)));
    return timers.current.delete(id);
  };
  const commit = (id: string) => end(id) && make(id);
  const latest = useRef(commit);
  useEffect(() => {
    latest.current = commit;
    for (const { id, seq } of notifications) if (seq > (seqs.get(id) ?? seq)) end(id);
  });
  useEffect(() => {
    const commitAll = () => {
      for (const id of [...timers.current.keys()]) latest.current(id);
    };
    addEventListener("pagehide", commitAll);
    return () => {
      removeEventListener("pagehide", commitAll);
      commitAll();
    };
  }, []);
  return {
    seqs,
    add: ({ id, seq }) => {
      setSeqs((before) => new Map([...before, [id, seq]]));
      timers.current.set(
        id,
        setTimeout(() => latest.current(id), UNDO_MS),
      );
    },
    undo: end,
  };
}

/** Stands in the place of a deleted notification while that can come back. */
function Deleted({ undo }: { undo(): void }) {
  const texts = useTexts();
  const button = useRef<HTMLButtonElement>(null);
  useLayoutEffect(() => {
    const { current } = button;
    return () => {
      if (current !== null && current === document.activeElement) focusNeighbor(current);
    };
  }, []);
  return (
    <div className="atrium-bar">
      <span className="atrium-none">{texts.notificationDeleted}</span>
      <span className="atrium-own">
        <button ref={button} type="button" onClick={undo}>
          {texts.undo}
        </button>
      </span>
    </div>
  );
}

interface InboxNotificationListProps extends NotificationProps {
  /** Shows these alone: `unread`, and those of a `roomId` or a `kind`. */
  readonly filter?: InboxFilter | undefined;
}

/** The notifications of the nearest `AtriumProvider`'s identity, newest first, 50 at a time. */
export function InboxNotificationList({ filter = {}, ...props }: InboxNotificationListProps): ReactNode {
  const texts = useTexts();
  const [{ notifications, hasMore, isLoading, error }, actions] = useInboxNotifications(filter);
  const unread = useUnreadInboxNotificationsCount();
  const attempts = useAttempts();
  const deleting = useAttempts();
  const deletions = useDeletions(notifications, (id) => void deleting.attempt(() => actions.delete(id)));
  const isDeleted = ({ id, seq }: Notification) => seq <= (deletions.seqs.get(id) ?? -1);
  const taken = notifications.filter((one) => one.unread && isDeleted(one)).length;
  const shown = unread && Math.max(0, unread - taken);
  const list = useRef<HTMLUListElement>(null);
  /** The length of the list when older ones were asked for. */
  const [asked, setAsked] = useState<number | null>(null);
  const latest = [...deletions.seqs.keys()].at(-1);
  const isAsking = asked !== null && error === null;
  useEffect(() => {
    if (asked === null || notifications.length <= asked) return;
    setAsked(null);
    const item = list.current?.children[asked];
    item?.querySelector<HTMLElement>("a, button")?.focus(); // the first one that was loaded
  }, [asked, notifications.length]);
  return (
    <section className="atrium atrium-inbox" aria-label={texts.inbox} aria-busy={isLoading} tabIndex={-1}>
      <div className="atrium-bar">
        <span role="status">{shown !== null && texts.unreadNotifications(shown)}</span>
        {shown !== null && shown > 0 && (
          <button
            type="button"
            disabled={attempts.isBusy}
            onClick={({ currentTarget }) => {
              currentTarget.closest("section")?.focus(); // the focused button disappears
              void attempts.attempt(() => actions.markAllAsRead());
            }}
          >
            {texts.markAllAsRead}
          </button>
        )}
        <Failure {...attempts} />
        <Failure {...deleting} />
      </div>
      <p role="status" className="atrium-hidden">
        {latest && <span key={latest}>{texts.notificationDeleted}</span>}
      </p>
      {isLoading && <p className="atrium-none">{texts.loading}</p>}
      <LoadFailure error={error} reload={actions.reload} />
      {!isLoading && error === null && notifications.length === 0 && (
        <p className="atrium-none">{texts.noNotifications}</p>
      )}
      {notifications.length > 0 && (
        <ul ref={list}>
          {notifications.map((notification) => (
            <li key={notification.id}>
              {isDeleted(notification) ? (
                <Deleted undo={() => deletions.undo(notification.id)} />
              ) : (
                <Item
                  {...props}
                  notification={notification}
                  attempt={attempts.attempt}
                  remove={() => deletions.add(notification)}
                />
              )}
            </li>
          ))}
        </ul>
      )}
      {hasMore && error === null && (
        <button
          type="button"
          aria-disabled={isAsking}
          onClick={() => {
            if (isAsking) return;
            setAsked(notifications.length);
            actions.loadMore();
          }}
        >
          {isAsking ? texts.loading : texts.showOlder}
        </button>
      )}
    </section>
  );
}
