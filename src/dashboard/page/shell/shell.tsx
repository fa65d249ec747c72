/** The frame of every page: organization, navigation and person. */
import { type ReactNode, useEffect, useRef } from "react";
import { useLocation } from "wouter";
import { Navigation } from "./navigation.tsx";
import { OrganizationMenu } from "./organization-menu.tsx";
import { Palette } from "./palette.tsx";
import { PersonMenu } from "./person-menu.tsx";
import { Shortcuts } from "./shortcuts.tsx";

export function Shell({ children }: { readonly children: ReactNode }) {
  const main = useRef<HTMLElement>(null);
  const [path] = useLocation();
  const shown = useRef(path);
  // Keyboard and screen reader users continue at the top of the new page.
  useEffect(() => {
    if (shown.current === path) return;
    shown.current = path;
    if (document.activeElement === document.body || !main.current?.contains(document.activeElement)) {
      main.current?.focus({ preventScroll: true });
    }
  }, [path]);
  return (
    <div className="shell">
      <a className="skip" href="#main">
        Skip to content
      </a>
      <header className="side">
        <OrganizationMenu />
        <Navigation />
        <div className="side-foot">
          <Palette />
          <Shortcuts />
          <PersonMenu />
        </div>
      </header>
      <main id="main" ref={main} tabIndex={-1}>
        {children}
      </main>
    </div>
  );
}
