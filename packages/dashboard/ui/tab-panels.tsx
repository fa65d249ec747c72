/** Panels of which one is shown, and their tabs, between which arrow keys move. */
import { type KeyboardEvent, type ReactNode, useId, useState } from "react";

interface Panel {
  readonly name: string;
  readonly content: ReactNode;
}

interface TabPanelsProps {
  /** The accessible name of the row of tabs. */
  readonly label: string;
  /** Until the person chooses one, the first one is shown, or that which `initial` names. */
  readonly panels: readonly Panel[];
  readonly initial?: string | undefined;
  readonly className?: string;
}

export function TabPanels({ label, panels, initial, className }: TabPanelsProps) {
  const id = useId();
  const [picked, choose] = useState<string>();
  const chosen = picked ?? initial ?? panels[0]?.name;
  return (
    <div className={className}>
      <div className="tabs" role="tablist" aria-label={label} onKeyDown={moveFocus}>
        {panels.map(({ name }) => (
          <button
            type="button"
            key={name}
            id={`${id}-${name}`}
            className="tab"
            role="tab"
            aria-selected={name === chosen}
            aria-controls={name === chosen ? id : undefined}
            tabIndex={name === chosen ? 0 : -1}
            onFocus={() => choose(name)}
            onClick={() => choose(name)}
          >
            {name}
          </button>
        ))}
      </div>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a panel without controls is reached by keyboard too */}
      <div className="tab-panel" role="tabpanel" id={id} aria-labelledby={`${id}-${chosen}`} tabIndex={0}>
        {panels.find(({ name }) => name === chosen)?.content}
      </div>
    </div>
  );
}

function moveFocus({ key, currentTarget }: KeyboardEvent<HTMLElement>): void {
  const tabs = [...currentTarget.querySelectorAll<HTMLElement>("[role=tab]")];
  const at = tabs.findIndex((tab) => tab.matches(":focus"));
  const step = { ArrowRight: 1, ArrowLeft: -1 }[key] ?? 0;
  tabs[(at + step + tabs.length) % tabs.length]?.focus();
}
