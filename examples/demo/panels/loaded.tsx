/** Parts of the page that are loaded when they are first needed. */
import { type ComponentType, useState } from "react";

export type Imported<Props> = Promise<{ readonly default: ComponentType<Props> }>;

/** The component that was loaded last, and a function that loads another one, or none. A failure is a toast. */
export function useLoaded<Props>() {
  const [Loaded, setLoaded] = useState<ComponentType<Props> | null>(null);
  const load = async (imported?: Imported<Props>) => {
    const part = await imported?.catch((cause: unknown) => {
      throw new Error("A part of the page could not be loaded. Try again when you are online.", { cause });
    });
    setLoaded(() => part?.default ?? null);
  };
  return [Loaded, load] as const;
}

interface DialogProps {
  readonly label: string;
  readonly className?: string;
  load(): Imported<{ close(): void }>;
}

/** A button with a dialog, which is loaded when it is opened. */
export function DialogButton({ label, className, load }: DialogProps) {
  const [Dialog, show] = useLoaded<{ close(): void }>();
  return (
    <>
      <button type="button" className={className} onClick={() => show(load())}>
        {label}
      </button>
      {Dialog && <Dialog close={() => void show()} />}
    </>
  );
}
