"""The page in a browser: it opens from a file, sorts, searches, hovers, slides, by keyboard too."""

import json
import os
import re
import shutil
import subprocess
import time

import ncut
import networkx as nx
import numpy as np
import pytest
from scipy import sparse

EVIL = "</script><script>document.title = 'run'</script>"


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    """Chromium without a network; where it is missing the tests are skipped, unless NCUT_BROWSER=required."""
    chromium = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    driver = shutil.which("chromedriver")
    if chromium is None or driver is None:
        if os.environ.get("NCUT_BROWSER") == "required":
            pytest.fail("Chromium and its driver are needed: apt-get install chromium chromium-driver")
        pytest.skip("no Chromium with its driver: the page is not tested in a browser")
    from selenium import webdriver

    options = webdriver.ChromeOptions()
    options.binary_location = chromium
    flags = """headless=new no-sandbox disable-gpu disable-quic no-first-run disable-background-networking
        disable-component-update disable-sync disable-dev-shm-usage window-size=1300,1000 force-color-profile=srgb"""
    for flag in flags.split():
        options.add_argument(f"--{flag}")
    options.add_argument(f"--user-data-dir={tmp_path_factory.mktemp('browser')}")
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    chrome = webdriver.Chrome(options=options, service=webdriver.ChromeService(driver))
    yield chrome
    chrome.quit()


@pytest.fixture
def open_page(browser, tmp_path):
    """Opens a page from a file; afterwards it must have asked for nothing else and told no error."""

    def opened(html):
        path = tmp_path / "page.html"
        path.write_text(html, encoding="utf-8")
        browser.get_log("browser")
        browser.get_log("performance")
        browser.get(path.as_uri())
        assert browser.execute_script("return document.documentElement.dataset.ready") is not None
        return browser

    yield opened
    messages = [json.loads(entry["message"])["message"] for entry in browser.get_log("performance")]
    asked = [one["params"]["request"]["url"] for one in messages if one["method"] == "Network.requestWillBeSent"]
    assert [url for url in asked if url.startswith(("http", "ws"))] == []
    assert [entry for entry in browser.get_log("browser") if entry["level"] in ("SEVERE", "WARNING")] == []


@pytest.fixture(scope="module")
def miserables():
    graph = nx.les_miserables_graph()
    return ncut.cluster(nx.relabel_nodes(graph, {"Napoleon": EVIL}), 6)


def first_cells(browser):
    script = "return [...document.querySelectorAll('#table tbody tr')].map(row => row.children[0].textContent)"
    return browser.execute_script(script)


def column(browser, number):
    script = (
        "return [...document.querySelectorAll('#table tbody tr')].map(row => row.children[arguments[0]].textContent)"
    )
    return browser.execute_script(script, number)


def state(browser, expression):
    return browser.execute_script(f"return {expression}")


def press(browser, *keys):
    from selenium.webdriver.common.action_chains import ActionChains

    ActionChains(browser).send_keys(*keys).perform()


def test_a_page_says_at_the_top_what_was_found(open_page, miserables):
    browser = open_page(miserables.to_html(title="Les Misérables"))
    assert re.match(
        "6 clusters.* of the weight stays inside", state(browser, "document.querySelector('h1').textContent")
    )
    assert "Les Misérables" in browser.title
    assert state(browser, "document.querySelectorAll('#facts > div').length") == 6
    assert len(first_cells(browser)) == 6


def test_a_name_that_would_end_the_script_is_only_a_name(open_page, miserables):
    browser = open_page(miserables.to_html(title=EVIL))
    assert browser.title.startswith(EVIL)
    assert state(browser, "nodes.names.includes(arguments[0])".replace("arguments[0]", json.dumps(EVIL)))
    assert state(browser, "document.querySelector('.source').children.length") == 0


def test_the_table_sorts_by_click_and_by_keyboard(open_page, miserables):
    from selenium.webdriver.common.by import By
    from selenium.webdriver.common.keys import Keys

    browser = open_page(miserables.to_html())
    sizes = sorted(miserables.clusters["size"].tolist())
    browser.find_element(By.CSS_SELECTOR, '#table th button[data-column="size"]').click()
    assert column(browser, 1) == [str(size) for size in reversed(sizes)]
    assert state(browser, "document.activeElement.dataset.column") == "size"
    press(browser, Keys.ENTER)
    assert column(browser, 1) == [str(size) for size in sizes]
    assert state(browser, "document.querySelector('#table th[aria-sort]').getAttribute('aria-sort')") == "ascending"


def test_rows_are_reached_and_selected_by_keyboard(open_page, miserables):
    from selenium.webdriver.common.keys import Keys

    browser = open_page(miserables.to_html())
    browser.execute_script("document.querySelector('#table tbody tr').focus()")
    press(browser, Keys.ARROW_DOWN, Keys.ARROW_DOWN, Keys.ENTER)
    assert state(browser, "chosen()") == 2
    assert "Cluster 2" in state(browser, "document.getElementById('detail').textContent")
    assert state(browser, "document.querySelector('#graph .knot[aria-selected=true]').dataset.group") == "2"
    outline = "getComputedStyle(document.activeElement).outlineStyle"
    assert state(browser, outline) == "solid", "the focus can be seen"
    press(browser, Keys.ESCAPE)
    assert state(browser, "chosen()") == -1


def test_every_control_is_reached_by_tab(open_page, miserables):
    from selenium.webdriver.common.keys import Keys

    browser = open_page(miserables.to_html())
    seen = set()
    for _ in range(60):
        press(browser, Keys.TAB)
        seen.add(state(browser, "document.activeElement.id || document.activeElement.tagName.toLowerCase()"))
    assert {"theme", "cut", "search", "map", "zoom-in", "zoom-fit", "tr", "g", "summary"} <= seen


def test_search_finds_a_node_by_keyboard(open_page, miserables):
    from selenium.webdriver.common.keys import Keys

    browser = open_page(miserables.to_html())
    browser.execute_script("document.getElementById('search').focus()")
    press(browser, "valj")
    assert state(browser, "document.querySelectorAll('#matches [role=option]').length") == 1
    assert state(browser, "document.getElementById('search').getAttribute('aria-expanded')") == "true"
    press(browser, Keys.ENTER)
    assert state(browser, "nodeName(view.node)") == "Valjean"
    time.sleep(0.1)
    assert "Valjean" in state(browser, "document.getElementById('tip').textContent")
    label = miserables.labels[miserables.nodes.index("Valjean")]
    assert state(browser, "chosen()") == label


def test_hovering_a_cluster_lights_it_everywhere(open_page, miserables):
    from selenium.webdriver.common.action_chains import ActionChains
    from selenium.webdriver.common.by import By

    browser = open_page(miserables.to_html())
    knot = browser.find_element(By.CSS_SELECTOR, '#graph .knot[data-group="3"] circle')
    browser.execute_script("arguments[0].scrollIntoView({block: 'center'})", knot)
    ActionChains(browser).move_to_element(knot).perform()
    assert state(browser, "lit()") == 3
    assert state(browser, "document.querySelector('#table tr.is-lit').dataset.group") == "3"
    assert "Cluster 3" in state(browser, "document.getElementById('detail').textContent")


def test_hovering_a_node_tells_its_name_and_cluster(open_page, miserables):
    from selenium.webdriver.common.action_chains import ActionChains
    from selenium.webdriver.common.by import By

    browser = open_page(miserables.to_html())
    node = miserables.nodes.index("Myriel")
    canvas = browser.find_element(By.ID, "map")
    browser.execute_script("arguments[0].scrollIntoView({block: 'center'})", canvas)
    x, y = state(browser, f"nodeMap.screenOf({node})")
    width, height = state(
        browser, "[map.clientWidth, map.clientHeight]".replace("map.", "document.getElementById('map').")
    )
    action = ActionChains(browser).move_to_element_with_offset(canvas, round(x - width / 2), round(y - height / 2))
    action.perform()
    tip = state(browser, "document.getElementById('tip').textContent")
    assert "Myriel" in tip and f"Cluster {miserables.labels[node]}" in tip


def test_the_slider_joins_clusters_in_the_order_of_the_tree(open_page, miserables):
    from selenium.webdriver.common.keys import Keys

    browser = open_page(miserables.to_html())
    browser.execute_script("document.getElementById('cut').focus()")
    for k in (5, 4, 3):
        press(browser, Keys.ARROW_LEFT)
        assert len(first_cells(browser)) == k
        wanted = miserables.hierarchy.labels(k)
        found = np.array(state(browser, "Array.from(nodes.label, (_, node) => groupOfNode(node))"))
        assert len(set(zip(found, wanted, strict=True))) == k, "the same clusters as the hierarchy has"
        # Sums that the page makes are those of the library.
        scored = ncut.score(nx.les_miserables_graph(), found)
        inside = state(browser, "view.cut.groups.map(group => group.inside)")
        assert np.allclose(inside, scored.clusters["inside"])


def test_headline_figures_and_confidence_follow_the_slider(open_page, miserables):
    graph = nx.relabel_nodes(nx.les_miserables_graph(), {"Napoleon": EVIL})
    browser = open_page(miserables.to_html())
    headline = "document.querySelector('h1').textContent"
    figures = """Object.fromEntries([...document.querySelectorAll('#facts > div')].map(
        one => [one.querySelector('dt').textContent, one.querySelector('.value').textContent]))"""
    found = state(browser, headline)
    browser.execute_script("setCut(3)")
    labels = np.array(state(browser, "Array.from(nodes.label, (_, node) => groupOfNode(node))"))
    scored = ncut.score(graph, labels)
    assert state(browser, headline).startswith("3 clusters, joined from 6: ")
    shown = state(browser, figures)
    assert shown["Clusters"] == "3"
    assert shown["N-Cut"] == f"{scored.ncut:.4f}"
    assert shown["Modularity"] == f"{scored.modularity:.3f}"
    sure = state(browser, "Array.from(nodes.label, (_, node) => nodeConfidence(node))")
    same = ncut.cluster(graph, 3, init=labels, preset="paper", max_iter=0)
    assert np.allclose(sure, same.confidence, atol=1 / 255)
    titles = state(browser, "view.cut.groups.map(group => [group.rows.length, group.name])")
    assert all(("and" in name) == (count > 1) for count, name in titles)
    browser.execute_script("setCut(6)")
    assert state(browser, headline) == found


def test_known_classes_are_in_the_table_the_tip_and_the_colours(open_page):
    from selenium.webdriver.common.by import By

    graph = nx.karate_club_graph()
    clubs = [graph.nodes[node]["club"] for node in graph]
    found = ncut.cluster(graph, 2)
    browser = open_page(found.to_html(truth=clubs))
    cells = state(
        browser, "[...document.querySelectorAll('#table td[data-title=Mostly]')].map(cell => cell.textContent)"
    )
    assert sorted(cell.split(",")[0] for cell in cells) == ["Mr. Hi", "Officer"]
    counts = state(
        browser, "[...document.querySelectorAll('#cross tbody td')].map(cell => Number(cell.textContent) || 0)"
    )
    assert sum(counts) == 34
    assert "class Mr. Hi" in state(browser, "nodeTip(0).map(part => part.textContent).join(' ')")
    browser.find_element(By.CSS_SELECTOR, "#colouring button:last-child").click()
    assert "Officer" in state(browser, "document.getElementById('map-legend').textContent")
    assert state(browser, "page.facts.some(fact => fact.key === 'agreement')")
    with pytest.raises(ValueError, match="there are 2 known classes for 34 nodes"):
        found.to_html(truth=[0, 1])


def test_light_and_dark(open_page, miserables):
    browser = open_page(miserables.to_html())
    grounds = []
    for _ in range(2):
        grounds.append(state(browser, "getComputedStyle(document.documentElement).backgroundColor"))
        browser.execute_script("document.getElementById('theme').click()")
    assert grounds[0] != grounds[1]


def test_points_tell_which_features_set_a_cluster_apart(open_page):
    rng = np.random.default_rng(0)
    table = rng.normal(size=(90, 3))
    table[:45, 1] += 12.0
    found = ncut.cluster(ncut.self_tuning_graph(table, 8), 2)
    browser = open_page(found.to_html(points=table, feature_names=["a", "wing <b>", "c"]))
    assert state(browser, "featuresOf(view.cut.groups[0], 1)[0].name") == "wing <b>"
    cells = state(browser, "[...document.querySelectorAll('#table tbody td')].map(cell => cell.textContent)")
    assert any("wing <b> high" in cell for cell in cells) and any("wing <b> low" in cell for cell in cells)
    views = state(browser, "[...document.querySelectorAll('#views button')].map(button => button.textContent)")
    assert views[0] == "Principal" and views[-1] == "By cluster"


def test_features_are_rounded_by_their_spread_and_have_no_unit_once_standardized(open_page):
    rng = np.random.default_rng(0)
    table = rng.normal(size=(90, 2))
    table[:45, 0] += 12.0
    table = (table - table.mean(axis=0)) / table.std(axis=0)
    found = ncut.cluster(ncut.self_tuning_graph(table, 8), 2)
    browser = open_page(found.to_html(points=table, feature_names=["wing (cm)", "b"]))
    browser.execute_script("choose(0)")
    detail = state(browser, "document.getElementById('detail').textContent")
    assert "Means: here / all others, in standard deviations" in detail
    assert "wing" in detail and "cm" not in detail and "e-" not in detail
    assert state(browser, "[ofFeature(-1.9e-15, 1), ofFeature(5.8433, 0.4), ofFeature(12345.6, 2000)]") == [
        "0.0",
        "5.84",
        "12346",
    ]


def test_names_on_the_map_stay_inside_it_and_off_each_other(open_page, miserables):
    browser = open_page(miserables.to_html())
    script = """const done = arguments[0], drawn = [];
        const context = CanvasRenderingContext2D.prototype, fillText = context.fillText;
        context.fillText = function (text, x, y) {
            drawn.push([x, y, this.measureText(text).width]);
            fillText.call(this, text, x, y);
        };
        choose(-1);
        requestAnimationFrame(() => requestAnimationFrame(() => done(drawn)));"""
    drawn = browser.execute_async_script(script)
    width, height = state(
        browser, "[document.getElementById('map').clientWidth, document.getElementById('map').clientHeight]"
    )
    assert len(drawn) > 20
    assert all(x >= 0 and x + wide <= width and 0 <= y <= height for x, y, wide in drawn)
    for first, (x, y, wide) in enumerate(drawn):
        for other_x, other_y, other_wide in drawn[:first]:
            assert abs(y - other_y) >= 11 or x + wide <= other_x or other_x + other_wide <= x


def test_nodes_without_a_cluster_have_their_own_legend(open_page):
    blocks = np.kron(np.eye(2), np.ones((8, 8)))
    blocks[:4, 8:12] = 0.01
    blocks = np.maximum(blocks, blocks.T)
    whole = np.zeros((19, 19))
    whole[:16, :16] = blocks
    whole[16:, 16:] = 1.0
    browser = open_page(ncut.cluster(whole, 2, components="largest").to_html())
    assert "in no cluster" in state(browser, "document.getElementById('map-legend').textContent")


def test_a_picture_is_shown_with_its_regions(open_page):
    from selenium.webdriver.common.keys import Keys

    picture = np.zeros((30, 50), dtype=np.uint8)
    picture[:, 25:] = 255
    found = ncut.cluster(ncut.image_graph(picture), 2)
    browser = open_page(found.to_html(picture=picture))
    assert state(browser, "[page.picture.width, page.picture.height]") == [50, 30]
    browser.execute_script("document.getElementById('map').focus()")
    press(browser, Keys.ARROW_RIGHT)
    assert state(browser, "chosen()") == 0
    assert "Region 0" in state(browser, "document.getElementById('detail').textContent")


def test_choose_has_a_curve_and_a_slider(open_page):
    from selenium.webdriver.common.by import By

    blocks = np.kron(np.eye(3), np.ones((12, 12))) + 0.05
    browser = open_page(ncut.choose(blocks, 1, 6).to_html())
    assert "3 clusters" in state(browser, "document.querySelector('h1').textContent")
    assert state(browser, "[view.cut.k, Number(document.getElementById('cut').max)]") == [3, 6]
    assert state(browser, "view.cut.groups.every(group => group.confidence > 0.3 && group.typical.length > 0)"), (
        "of the three"
    )
    bar = browser.find_element(By.CSS_SELECTOR, '#curves .curve-dot[data-k="5"]')
    browser.execute_script("arguments[0].dispatchEvent(new MouseEvent('click', {bubbles: true}))", bar)
    assert len(first_cells(browser)) == 5


def test_the_pages_of_the_command_line_open(open_page, command, tmp_path):
    blocks = np.kron(np.eye(3), np.ones((8, 8))) + 0.05
    np.fill_diagonal(blocks, 0.0)
    sparse.save_npz(tmp_path / "blocks.npz", sparse.csr_array(blocks))
    (tmp_path / "halves.pgm").write_text("P2\n4 2\n255\n0 0 255 255\n0 0 255 255\n")
    for arguments, seen in [
        ("compare blocks.npz -k 3", "document.querySelectorAll('#solvers tbody tr').length >= 10"),
        ("compare blocks.npz -k 3", "document.querySelectorAll('#small-maps canvas').length >= 10"),
        ("choose blocks.npz --to 6", "document.querySelectorAll('#curves .curve-bar.is-suggested').length > 0"),
        ("segment halves.pgm -k 2 -o regions.png", "page.picture.width === 4"),
        ("cluster blocks.npz -k 3", "view.cut.k === 3"),
    ]:
        made = [command, *arguments.split(), "--quiet", "--report", "page.html"]
        subprocess.run(made, cwd=tmp_path, check=True)
        browser = open_page((tmp_path / "page.html").read_text(encoding="utf-8"))
        assert state(browser, seen), arguments


def test_solvers_sort(open_page, command, tmp_path):
    from selenium.webdriver.common.by import By

    nx.write_weighted_edgelist(nx.les_miserables_graph(), tmp_path / "g.txt")
    made = [command, "compare", "g.txt", "-k", "6", "--quiet", "--report", "page.html"]
    subprocess.run(made, cwd=tmp_path, check=True)
    browser = open_page((tmp_path / "page.html").read_text(encoding="utf-8"))
    script = "[...document.querySelectorAll('#solvers tbody tr')].map(row => Number(row.children[1].textContent))"
    objectives = state(browser, script)
    assert objectives == sorted(objectives, reverse=True)
    browser.find_element(By.CSS_SELECTOR, '#solvers th button[data-column="objective"]').click()
    assert state(browser, script) == sorted(objectives)


def test_nothing_is_wider_than_a_telephone(open_page, miserables):
    browser = open_page(miserables.to_html())
    metrics = {"width": 380, "height": 800, "deviceScaleFactor": 2, "mobile": True}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)
    try:
        assert state(browser, "document.documentElement.scrollWidth") <= 380
    finally:
        browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})


def test_a_hundred_thousand_nodes_are_there_within_two_seconds(open_page):
    n_nodes, n_clusters = 100_000, 20
    rng = np.random.default_rng(1)
    labels = np.arange(n_nodes) % n_clusters
    near = labels + n_clusters * rng.integers(0, n_nodes // n_clusters, size=n_nodes)
    rows = np.concatenate([np.arange(n_nodes), np.arange(n_nodes)])
    ends = np.concatenate([near, rng.integers(0, n_nodes, size=n_nodes)])
    weights = np.concatenate([np.full(n_nodes, 8.0), np.ones(n_nodes)])
    matrix = sparse.coo_array((weights, (rows, ends)), shape=(n_nodes, n_nodes)).tocsr()
    matrix = matrix + matrix.T
    found = ncut.cluster(matrix, n_clusters, init=labels, preset="paper", max_iter=0)
    html = found.to_html(names=[f"somebody {node}" for node in range(n_nodes)])
    drawn = "new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => done(performance.now()))))"
    choosing = "const done = arguments[0]; const began = performance.now(); choose(3);"
    frame = "requestAnimationFrame(() => requestAnimationFrame(() => done(performance.now() - began)));"

    def seconds():
        began = time.perf_counter()
        browser = open_page(html)
        browser.execute_async_script(f"const done = arguments[arguments.length - 1]; {drawn}.then(done)")
        lit = browser.execute_async_script(choosing + frame)
        return browser, time.perf_counter() - began, lit

    # Once of three times: other work may be in the way.
    for _ in range(3):
        browser, whole, lit = seconds()
        if whole < 2.0 and lit < 500:
            break
    assert lit < 500, "milliseconds to light a cluster"
    assert whole < 2.0, "seconds to open"
    assert state(browser, "matching('somebody 99999')[0].text") == "somebody 99999"


def test_a_notebook_shows_the_page_in_a_frame(open_page, miserables):
    browser = open_page(f"<html data-ready=1><body>{miserables._repr_html_()}</body></html>")
    browser.switch_to.frame(0)
    try:
        assert "6 clusters" in state(browser, "document.querySelector('h1').textContent")
    finally:
        browser.switch_to.default_content()


def test_a_page_is_written_whole_or_not_at_all(miserables, tmp_path):
    assert miserables.to_html(tmp_path / "page.html") is None
    assert (tmp_path / "page.html").read_text(encoding="utf-8") == miserables.to_html()
    with pytest.raises(ValueError, match=r"page\.pdf: a page is HTML; choose a name that ends in \.html"):
        miserables.to_html(tmp_path / "page.pdf")
    (tmp_path / "folder.html").mkdir()
    with pytest.raises(OSError):
        miserables.to_html(tmp_path / "folder.html")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["folder.html", "page.html"]


def test_what_does_not_fit_the_graph_is_refused(miserables):
    for description, message in [
        ({"names": ["a"]}, "there are 1 names for 77 nodes"),
        ({"points": np.zeros((3, 2))}, "the points are 3 x 2; there must be one row for each of the 77 nodes"),
        ({"picture": np.zeros((3, 2))}, "the picture has 3 x 2 pixels; there must be one for each of the 77 nodes"),
        ({"points": np.zeros((77, 2)), "picture": np.zeros((7, 11))}, "give one of the two"),
        ({"max_nodes": 0}, "max_nodes"),
    ]:
        with pytest.raises(ValueError, match=re.escape(message)):
            miserables.to_html(**description)


@pytest.mark.parametrize("kind", ["auto", "map", "matrix"])
def test_plot_draws_every_cluster(miserables, kind):
    import matplotlib

    matplotlib.use("Agg")
    axes = miserables.plot(kind=kind)
    texts = {text.get_text().strip() for text in axes.texts}
    assert texts == {str(label) for label in range(6)}
    assert axes.get_title().startswith("6 clusters")
    axes.figure.canvas.draw()
    matplotlib.pyplot.close(axes.figure)


def test_plot_draws_points_and_pictures():
    import matplotlib

    matplotlib.use("Agg")
    table = np.concatenate([np.zeros((9, 3)), np.ones((9, 3))]) + np.arange(54).reshape(18, 3) * 1e-2
    axes = ncut.cluster(ncut.self_tuning_graph(table, 5), 2).plot(points=table)
    assert len(axes.collections) == 2
    matplotlib.pyplot.close(axes.figure)
    picture = np.zeros((8, 10))
    picture[:, 5:] = 1.0
    axes = ncut.cluster(ncut.image_graph(picture), 2).plot(picture=picture)
    assert len(axes.images) == 1
    matplotlib.pyplot.close(axes.figure)
    with pytest.raises(ValueError, match="kind is 'pie'"):
        ncut.cluster(ncut.image_graph(picture), 2).plot(kind="pie")
