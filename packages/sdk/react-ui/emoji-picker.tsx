/** A button that opens a small choice of emoji. */
import { type ReactNode, useEffect, useRef, useState } from "react";

const EMOJI = ["👍", "❤️", "😄", "🎉", "😮", "😢", "🤔", "👀", "🙏", "✅", "🚀", "👏"];

interface EmojiPickerProps {
  readonly label: string;
  readonly disabled?: boolean | undefined;
  pick(emoji: string): void;
}

export function EmojiPicker({ label, disabled = false, pick }: EmojiPickerProps): ReactNode {
  const [isOpen, setOpen] = useState(false);
  const root = useRef<HTMLSpanElement>(null);
  const button = useRef<HTMLButtonElement>(null);
  useEffect(() => {
    if (!isOpen) return;
    root.current?.querySelector<HTMLElement>("[role=group] button")?.focus();
    const closeOutside = ({ target }: Event) => {
      if (!root.current?.contains(target as Node)) setOpen(false);
    };
    for (const event of ["pointerdown", "focusin"]) document.addEventListener(event, closeOutside);
    return () => {
      for (const event of ["pointerdown", "focusin"]) document.removeEventListener(event, closeOutside);
    };
  }, [isOpen]);
  const close = () => {
    button.current?.focus();
    setOpen(false);
  };
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: Escape closes the group wherever the focus is in it
    <span
      ref={root}
      className="atrium-picker"
      onKeyDown={(event) => {
        if (!isOpen || event.key !== "Escape") return;
        event.stopPropagation();
        close();
      }}
    >
      <button
        ref={button}
        type="button"
        className="atrium-icon"
        aria-label={label}
        title={label}
        aria-expanded={isOpen}
        disabled={disabled}
        onClick={() => setOpen(!isOpen)}
      >
        <svg width="18" height="18" viewBox="0 0 18 18" aria-hidden="true">
          <circle cx="9" cy="9" r="7" />
          <path d="M6 10.5a3.5 3.5 0 0 0 6 0M6.5 7v.01M11.5 7v.01" />
        </svg>
      </button>
      {isOpen && (
        // biome-ignore lint/a11y/useSemanticElements: a fieldset would look like one
        <span role="group" aria-label={label} className="atrium-emoji">
          {EMOJI.map((emoji) => (
            <button
              key={emoji}
              type="button"
              onClick={() => {
                close();
                pick(emoji);
              }}
            >
              {emoji}
            </button>
          ))}
        </span>
      )}
    </span>
  );
}
