/** Reactions: emoji that are broadcast to everyone online, and kept by no one. */
import { useBroadcast } from "atrium/react";
import { useState } from "react";
import { Icon } from "../ui/icon.tsx";
import { Popover } from "../ui/popover.tsx";
import { used } from "../ui/used.ts";

/** Emoji that systems without an emoji font can draw too. */
const EMOJI = ["❤️", "😄", "😂", "😮", "☕"];

export function Reactions({ mayReact }: { readonly mayReact: boolean }) {
  const [floating, setFloating] = useState<readonly { id: number; emoji: string }[]>([]);
  const float = (sent: unknown) => {
    const emoji = EMOJI.find((known) => known === sent); // never trust what other clients send
    if (emoji) setFloating((all) => [...all.slice(-40), { id: (all.at(-1)?.id ?? 0) + 1, emoji }]);
  };
  const broadcast = useBroadcast("emoji", float);
  const send = (emoji: string) => {
    float(emoji);
    void broadcast(emoji);
    used("Reactions");
  };
  return (
    <>
      {mayReact && (
        <Popover label="Reactions" className="reactions" face={<Icon name="smile" />}>
          {() =>
            EMOJI.map((emoji) => (
              <button key={emoji} type="button" onClick={() => send(emoji)}>
                {emoji}
              </button>
            ))
          }
        </Popover>
      )}
      {floating.map(({ id, emoji }) => (
        <span key={id} className="float" style={{ left: `${10 + ((id * 37) % 80)}%` }}>
          {emoji}
        </span>
      ))}
    </>
  );
}
