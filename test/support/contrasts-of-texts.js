// Runs in a page: the contrast of every visible text against the ground it stands on (WCAG 2, 1.4.3).
() => {
  const channels = (color) => (color.match(/[\d.]+/g) ?? []).map(Number);
  const luminance = (color) => {
    const [red, green, blue] = channels(color).map((each) => {
      const share = each / 255;
      return share <= 0.03928 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
    });
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
  };
  const findGround = (element) => {
    for (let each = element; each; each = each.parentElement) {
      const { backgroundColor } = getComputedStyle(each);
      if (channels(backgroundColor)[3] !== 0) return backgroundColor;
    }
    return "rgb(255, 255, 255)";
  };
  const found = [];
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    const parent = node.parentElement;
    const text = node.textContent.trim();
    if (text === "" || !parent.checkVisibility()) continue;
    const [one, other] = [luminance(getComputedStyle(parent).color), luminance(findGround(parent))];
    found.push({ text, contrast: (Math.max(one, other) + 0.05) / (Math.min(one, other) + 0.05) });
  }
  return found;
};
