/** For the current link of a row that scrolls on narrow screens: it is in view, wherever it is in the row. */
export const bringIntoView = (link: Element | null): void =>
  link?.scrollIntoView({ block: "nearest", inline: "nearest" });
