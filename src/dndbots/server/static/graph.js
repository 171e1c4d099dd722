// The graph of who has to do with whom, drawn by cytoscape from what the seat knows.

const load = (address) =>
  new Promise((done, failed) => {
    const script = document.createElement("script");
    script.src = address;
    script.onload = done;
    script.onerror = failed;
    document.head.append(script);
  });

const colours = { PC: "--s1", NPC: "--s3", MON: "--s6", LOC: "--s2", QST: "--s8", FAC: "--s5", ITEM: "--s9" };

// So few lines that all of them can have their words.
const FEW = 6;

// One line between two ends: several would pull them together and hide each other.
const merged = (edges) => {
  const pairs = new Map();
  for (const edge of edges) {
    const key = [edge.source, edge.target].sort().join(" ");
    const known = pairs.get(key);
    if (!known) pairs.set(key, { ...edge });
    else if (!known.kind.split(", ").includes(edge.kind)) known.kind += `, ${edge.kind}`;
    if (known && edge.certainty === "fact") known.certainty = "fact";
  }
  return [...pairs.values()];
};

export async function draw(box) {
  const [data] = await Promise.all([fetch(box.dataset.source).then((answer) => answer.json()), load(box.dataset.script)]);
  const style = getComputedStyle(document.documentElement);
  const colour = (name) => style.getPropertyValue(name).trim();
  const names = new Map(data.nodes.map((node) => [node.id, node.name]));
  if (!data.edges.length) {
    document.getElementById("graph-hint").textContent = "No connections are known yet.";
  }
  const list = document.getElementById("graph-list");
  for (const edge of data.edges) {
    const item = document.createElement("li");
    item.textContent = `${names.get(edge.source)} ${edge.kind} ${names.get(edge.target)}`;
    list.append(item);
  }
  const graph = window.cytoscape({
    container: box,
    elements: [
      ...data.nodes.map((node) => ({ data: { ...node, colour: colour(colours[node.kind] || "--dim") } })),
      ...merged(data.edges).map((edge, number) => ({ data: { id: `edge-${number}`, ...edge } })),
    ],
    style: [
      { selector: "node", style: { "background-color": "data(colour)", label: "data(name)", width: 16, height: 16, "font-size": 16, color: colour("--ink"), "text-valign": "bottom", "text-margin-y": 4, "text-wrap": "wrap", "text-max-width": 150, "font-family": "system-ui, sans-serif" } },
      { selector: "node[?start]", style: { width: 24, height: 24, "font-size": 18 } },
      { selector: "edge", style: { width: 1, "line-color": colour("--dim"), "line-opacity": 0.5, "curve-style": "bezier", label: "data(kind)", "font-size": 11, color: colour("--dim"), "text-rotation": "autorotate", "text-background-color": colour("--sheet"), "text-background-padding": 1, "min-zoomed-font-size": 7, "text-opacity": 0, "text-background-opacity": 0 } },
      { selector: "edge.told", style: { "text-opacity": 1, "text-background-opacity": 1, "line-color": colour("--accent"), "line-opacity": 1, "z-index": 9 } },
      { selector: "node.faint", style: { opacity: 0.3 } },
      { selector: "edge[certainty != 'fact']", style: { "line-style": "dashed" } },
    ],
    layout: { name: "cose", animate: false, padding: 40, nodeRepulsion: () => 3e4, idealEdgeLength: () => 60, edgeElasticity: () => 120, gravity: 1.2, numIter: 1500, nodeDimensionsIncludeLabels: true, randomize: false },
    minZoom: 0.2,
    maxZoom: 3,
  });
  // Words on every line would hide the names: those of one node show while it is pointed at.
  const point = (node) => {
    const near = node.closedNeighborhood();
    graph.nodes().difference(near).addClass("faint");
    near.edges().addClass("told");
  };
  const leave = () => {
    graph.elements().removeClass("faint told");
    if (graph.edges().length <= FEW) graph.edges().addClass("told");
  };
  graph.on("mouseover", "node", (event) => point(event.target));
  graph.on("mouseout", "node", leave);
  leave();
  // A tall drawing in a wide box would be small: lay it on its side.
  const drawn = graph.elements().boundingBox();
  if (drawn.h > drawn.w !== box.clientHeight > box.clientWidth) {
    graph.nodes().positions((node) => ({ x: node.position("y"), y: node.position("x") }));
    graph.fit(undefined, 40);
  }
  graph.on("tap", "node", (event) => location.assign(box.dataset.pages + encodeURIComponent(event.target.id())));
  box.graph = graph;
}
