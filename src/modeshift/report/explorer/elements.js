// Elements of the page. Text of the user is always text, never HTML.

export function make(tag, text, parent, kind) {
  const node = document.createElement(tag);
  if (text !== null) node.textContent = text;
  if (kind) node.className = kind;
  parent.append(node);
  return node;
}

export function makeDrawn(tag, attributes, parent, text) { // a part of an SVG picture
  const node = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
  if (text !== undefined) node.textContent = text;
  parent.append(node);
  return node;
}

export function makeRow(table, cells) { // the first cell names the row
  const row = make("tr", null, table);
  cells.forEach((cell, k) => {
    const node = make(k ? "td" : "th", null, row);
    if (!k) node.scope = "row";
    node.append(cell);
  });
  return row;
}

export function makeHead(table, names) {
  const row = make("tr", null, make("thead", null, table));
  for (const name of names) {
    if (name) make("th", name, row).scope = "col";
    else make("td", "", row); // a column that only draws
  }
}
