/** The bar at the top: the board at the left; its people, and the button that adds others, at the right. */
import { PERSON_COLORS } from "@atrium/contract/person-colors.ts";
import type { User } from "atrium/client";
import { isComposing } from "atrium/internal/input-method";
import { useHasUnsyncedChanges, useRoom, useSelf, useStatus } from "atrium/react";
import { AvatarStack } from "atrium/react-ui";
import { type KeyboardEvent, useEffect, useRef } from "react";
import { isNarrow } from "../canvas/camera.ts";
import { unfollowAll, useLevel, useMayWrite } from "../room/participants.ts";
import { ask } from "../room/visitor.ts";
import { PopoverBox } from "../ui/popover.tsx";
import { DialogButton } from "./loaded.tsx";

/** The rights of a visitor who may not edit. */
const LIMITS = { view: "View only", comment: "Comments only" };

interface PeopleProps {
  readonly color: string | null;
  setColor(color: string): void;
}

export const TopBar = (props: PeopleProps) => (
  <header>
    <div className="board-bar">
      <a className="brand" href="/" title="Atrium">
        <span className="visually-hidden">Atrium</span>
      </a>
      <BoardName />
      <Saved />
    </div>
    <People {...props} />
  </header>
);

/** Keeps what was written with Enter, and gives it up with Escape. */
function endWriting({ key, nativeEvent, currentTarget }: KeyboardEvent<HTMLInputElement>): void {
  if (isComposing(nativeEvent)) return;
  if (key === "Escape") currentTarget.value = currentTarget.defaultValue;
  if (key === "Enter" || key === "Escape") currentTarget.blur();
}

interface NameProps {
  readonly label: string;
  readonly name: string;
  rename(name: string): Promise<unknown>;
}

/** A name that is written in place, and kept when the focus leaves it. The service's refusal is a toast. */
function NameField({ label, name, rename }: NameProps) {
  const field = useRef<HTMLInputElement>(null);
  useEffect(() => {
    if (field.current && field.current !== document.activeElement) field.current.value = name;
  }, [name]);
  return (
    <label>
      <span>{label}</span>
      <input
        ref={field}
        title={label}
        defaultValue={name}
        maxLength={60}
        spellCheck={false}
        onKeyDown={endWriting}
        onBlur={({ currentTarget }) => {
          const next = currentTarget.value.trim();
          currentTarget.value = next || name;
          if (next === "" || next === name) return;
          void rename(next).catch((error: unknown) => {
            currentTarget.value = name;
            throw error;
          });
        }}
      />
    </label>
  );
}

function BoardName() {
  const { room } = useRoom();
  const mayEdit = useMayWrite("stores");
  const name = room?.name ?? "";
  useEffect(() => {
    if (name) document.title = `${name} · Atrium`;
  }, [name]);
  if (!name) return <h1>Atrium</h1>;
  return (
    <h1>
      {mayEdit ? (
        <NameField
          label="Name of the board"
          name={name}
          rename={(next) => ask("PUT", "board", { name: next })}
        />
      ) : (
        name
      )}
    </h1>
  );
}

/** Screen readers hear of the connection, and not of each change that is saved. */
function Saved() {
  const isConnected = useStatus() === "connected";
  const hasJoined = useSelf(({ user }) => user.id) !== null;
  const isUnsynced = useHasUnsyncedChanges();
  const lost = hasJoined ? "Offline" : "Connecting…";
  return (
    <p className="saved" data-state={isConnected ? (isUnsynced ? "saving" : "saved") : "offline"}>
      <span role="status">{isConnected || lost}</span>
      {isConnected && <span>{isUnsynced ? "Saving…" : "Saved"}</span>}
    </p>
  );
}

/** Click a participant to follow them: their cursor is highlighted and stays in view. A click on oneself changes name and color. */
function People({ color, setColor }: PeopleProps) {
  const { client } = useRoom();
  const bar = useRef<HTMLDivElement>(null);
  const profile = useRef<HTMLDivElement>(null);
  const following = useSelf(({ user }) => user.following) ?? [];
  const name = useSelf(({ user }) => user.name) ?? "";
  const level = useLevel();
  const choose = async (user: User) => {
    if (user.id === client.userId) return profile.current?.showPopover();
    await unfollowAll(client);
    if (!following.includes(user.id)) await user.follow();
  };
  return (
    <div ref={bar} className="people-bar">
      {level !== null && level !== "edit" && <p>{LIMITS[level]}</p>}
      <AvatarStack
        max={isNarrow() ? 3 : 8}
        onAvatarClick={choose}
        pressed={following}
        label={(other, id) => (id === client.userId ? `${other} (you)` : `Follow ${other}`)}
      />
      <PopoverBox className="profile" box={profile} anchor={() => bar.current?.querySelector("li")}>
        <NameField label="Your name" name={name} rename={(next) => ask("PUT", "visitor", { name: next })} />
        <fieldset className="swatches">
          <legend>Your color</legend>
          {PERSON_COLORS.map((each, index) => (
            <input
              key={each}
              type="radio"
              name="color"
              style={{ color: each }}
              aria-label={`Color ${index + 1}`}
              checked={each === color}
              onChange={() => setColor(each)}
            />
          ))}
        </fieldset>
      </PopoverBox>
      <DialogButton label="Share" className="button primary" load={() => import("./share.tsx")} />
    </div>
  );
}
