/** Text to search a list for, applied shortly after the last key. */
import { useEffect, useRef } from "react";
import { Icon } from "./icon.tsx";

const PAUSE_MS = 250;

export interface SearchBoxProps {
  readonly label: string;
  readonly initial: string;
  readonly onSearch: (text: string) => void;
}

export function SearchBox({ label, initial, onSearch }: SearchBoxProps) {
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  useEffect(() => () => clearTimeout(timer.current), []);
  const later = (text: string) => {
    clearTimeout(timer.current);
    timer.current = setTimeout(() => onSearch(text), PAUSE_MS);
  };
  return (
    <div className="search">
      <Icon name="search" />
      <input
        type="search"
        className="input"
        aria-label={label}
        placeholder={label}
        maxLength={256}
        defaultValue={initial}
        data-shortcut="search"
        onChange={(event) => later(event.currentTarget.value)}
      />
    </div>
  );
}
