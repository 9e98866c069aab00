"""The playground in a browser: the labels of the command line within seconds, stopped, by keyboard, on a phone.

pytest crates/ncut-wasm/tests, with NCUT_COMMAND; the page is target/playground/index.html. It needs Chromium with its
driver, selenium, numpy and scikit-image.
"""

import contextlib
import functools
import http.server
import json
import os
import shutil
import subprocess
import threading
import time
from pathlib import Path

import numpy as np
import pytest
from selenium import webdriver
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from skimage import data, io, transform

ROOT = Path(__file__).parents[3]
PAGE = ROOT / "target" / "playground" / "index.html"
COMMAND = os.environ.get("NCUT_COMMAND", str(ROOT / "target" / "debug" / "ncut"))
# Longer than this is too long for a page; a slow machine gets more by NCUT_PATIENCE.
SECONDS = 10 * float(os.environ.get("NCUT_PATIENCE", "1"))
MEASURED = []


class Handler(http.server.SimpleHTTPRequestHandler):
    """A plain static server; below /isolated/ it also says that the page may share memory with its worker."""

    def translate_path(self, path):
        return super().translate_path(path.removeprefix("/isolated"))

    def end_headers(self):
        if self.path.startswith("/isolated/"):
            self.send_header("Cross-Origin-Opener-Policy", "same-origin")
            self.send_header("Cross-Origin-Embedder-Policy", "require-corp")
        super().end_headers()

    def log_message(self, *_):
        pass


@pytest.fixture(scope="module")
def site():
    handler = functools.partial(Handler, directory=str(PAGE.parents[1]))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


@pytest.fixture(scope="module")
def downloads(tmp_path_factory):
    return tmp_path_factory.mktemp("downloads")


@pytest.fixture(scope="module")
def chrome(tmp_path_factory, downloads):
    chromium = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    driver = shutil.which("chromedriver")
    if chromium is None or driver is None:
        pytest.fail("Chromium and its driver are needed: apt-get install chromium chromium-driver")
    options = webdriver.ChromeOptions()
    options.binary_location = chromium
    flags = """headless=new no-sandbox disable-gpu disable-quic no-first-run disable-background-networking
        disable-component-update disable-sync disable-dev-shm-usage window-size=1300,1000 force-color-profile=srgb"""
    for flag in flags.split():
        options.add_argument(f"--{flag}")
    options.add_argument(f"--user-data-dir={tmp_path_factory.mktemp('browser')}")
    options.add_experimental_option("prefs", {"download.default_directory": str(downloads)})
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    browser = webdriver.Chrome(options=options, service=webdriver.ChromeService(driver))
    yield browser
    browser.quit()


@pytest.fixture
def open_page(chrome, site):
    """Opens the page; afterwards it must have asked for nothing but itself and told no error."""

    def opened(address=f"{site}/playground/index.html"):
        chrome.get_log("browser")
        chrome.get_log("performance")
        chrome.get(address)
        wait(chrome, "document.documentElement.dataset.ready !== undefined")
        return chrome

    yield opened
    messages = [json.loads(entry["message"])["message"] for entry in chrome.get_log("performance")]
    asked = [one["params"]["request"]["url"] for one in messages if one["method"] == "Network.requestWillBeSent"]
    outside = [url for url in asked if url.startswith(("http", "ws", "ftp", "file"))]
    assert [url for url in outside if not url.endswith(("/playground/index.html", "/favicon.ico"))] == []
    errors = [entry for entry in chrome.get_log("browser") if entry["level"] in ("SEVERE", "WARNING")]
    # Chromium asks every site for an icon by itself.
    assert [entry for entry in errors if "favicon.ico" not in entry["message"]] == []


@pytest.fixture(scope="module")
def inputs(tmp_path_factory):
    """An edge list of 100 000 edges, a table of 5 000 rows, a photograph of a megapixel."""
    folder = tmp_path_factory.mktemp("inputs")
    rng = np.random.default_rng(1)
    groups = np.sort(rng.integers(0, 20, 10_000))
    first = np.searchsorted(groups, np.arange(21))
    edges = set()
    while len(edges) < 100_000:
        one = int(rng.integers(10_000))
        inside = rng.random() < 0.7
        other = int(rng.integers(first[groups[one]], first[groups[one] + 1]) if inside else rng.integers(10_000))
        if one != other:
            edges.add((min(one, other), max(one, other)))
    (folder / "edges.txt").write_text("".join(f"{one} {other}\n" for one, other in sorted(edges)))
    centres = rng.normal(size=(12, 16)) * 2
    table = centres[rng.integers(0, 12, 5000)] + rng.normal(size=(5000, 16))
    header = ",".join(f"x{column}" for column in range(16))
    np.savetxt(folder / "table.csv", table, "%.6f", ",", header=header, comments="")
    photograph = transform.resize(data.astronaut(), (1024, 1024), anti_aliasing=True)
    io.imsave(folder / "photo.jpg", (255 * photograph).round().astype(np.uint8))
    return folder


def state(browser, expression):
    return browser.execute_script(f"return {expression}")


def wait(browser, condition, seconds=120):
    end = time.monotonic() + seconds
    while not state(browser, condition):
        assert time.monotonic() < end, f"{condition}: {state(browser, 'document.body.innerText')}"
        time.sleep(0.05)


def choose(browser, path, clusters):
    """Chooses a file and a number of clusters, as a person would."""
    state(browser, "shown.found = null")
    browser.find_element(By.ID, "file").send_keys(str(path))
    wait(browser, f"input.name === {json.dumps(path.name)}")
    state(browser, f"setCount({json.dumps(clusters)}), changed()")


def is_descendant(process, ancestor):
    while process not in ("0", ancestor):
        # After the name of the program, which may hold anything, come the state and the parent.
        process = Path("/proc", process, "stat").read_text().rpartition(")")[2].split()[1]
    return process == ancestor


def waited_for_a_processor(browser):
    """Seconds in which the worker's thread could have run, but others had all processors; 0 before there is a worker.

    On a busy machine that is most of the time: where 19 threads want 2 processors, 5 seconds of work take 17.
    """
    driver, seconds = str(browser.service.process.pid), 0
    for thread in Path("/proc").glob("[0-9]*/task/[0-9]*"):
        # Processes and threads end while one looks at them.
        with contextlib.suppress(OSError):
            is_worker = (thread / "comm").read_text().startswith("DedicatedWorker")
            if is_worker and is_descendant(thread.parts[2], driver):
                seconds += int((thread / "schedstat").read_text().split()[1]) / 1e9
    return seconds


def cluster(browser):
    """Presses the button. Gives the seconds from there to the report on the screen, and those of them in which the worker
    waited for a processor."""
    waited_before, started = waited_for_a_processor(browser), time.monotonic()
    browser.find_element(By.ID, "run").click()
    wait(browser, "!isRunning() && shown.found !== null")
    wait(browser, "element('report').contentDocument?.documentElement.dataset.ready !== undefined")
    return time.monotonic() - started, waited_for_a_processor(browser) - waited_before


def told_by_command_line(inputs, words, output="labels.txt"):
    subprocess.run([COMMAND, *words, "--quiet", "-o", output], cwd=inputs, check=True)
    return inputs / output


CASES = [("cluster", "edges.txt", 20), ("points", "table.csv", 12), ("segment", "photo.jpg", 12)]


@pytest.mark.parametrize(("subcommand", "name", "clusters"), CASES)
def test_labels_are_those_of_the_command_line_within_seconds(open_page, inputs, subcommand, name, clusters):
    browser = open_page()
    choose(browser, inputs / name, clusters)
    assert state(browser, "kind()") == {"cluster": "graph", "points": "points", "segment": "picture"}[subcommand]
    seconds, waited = cluster(browser)
    MEASURED.append((name, seconds, waited, os.getloadavg()[0]))
    words = [subcommand, name, "-k", str(clusters)]
    assert state(browser, "element('command').textContent").startswith(" ".join(["ncut", *words]))
    if subcommand == "segment":
        wanted = np.load(told_by_command_line(inputs, words, "regions.npy"))
        assert state(browser, "shown.found.size ? [...shown.found.size] : null") == list(wanted.shape)
        found = np.fromstring(state(browser, "shown.found.labels.join(' ')"), dtype=int, sep=" ")
        assert (found == wanted.ravel()).all()
    else:
        assert state(browser, "shown.found.text") == told_by_command_line(inputs, words).read_text()
    assert seconds - waited < SECONDS, f"{name} took {seconds:.1f} s, {waited:.1f} of them waiting for a processor"


@pytest.mark.parametrize("options", [["--preset", "fast"], ["--preset", "paper"], ["--objective", "modularity"]])
def test_what_is_chosen_is_what_the_command_line_does(open_page, inputs, options):
    browser = open_page()
    choose(browser, inputs / "table.csv", 7)
    field = f"element({json.dumps(options[0].removeprefix('--'))})"
    state(browser, f"{field}.value = {json.dumps(options[1])}")
    state(browser, f"{field}.dispatchEvent(new Event('input', {{bubbles: true}}))")
    cluster(browser)
    words = ["points", "table.csv", "-k", "7", *options]
    assert state(browser, "element('command').textContent") == " ".join(["ncut", *words, "-o", "labels.txt"])
    assert state(browser, "shown.found.text") == told_by_command_line(inputs, words).read_text()


def test_it_works_as_a_file(open_page):
    browser = open_page(PAGE.as_uri())
    state(browser, "document.querySelectorAll('#examples button')[1].click()")
    wait(browser, "!isRunning()")
    assert "2 clusters" in state(browser, "element('result-title').textContent")


def test_every_example_runs(open_page):
    browser = open_page()
    for number, count in enumerate([6, 2, 8, 2, 7, 13]):
        state(browser, "shown.found = null")
        state(browser, f"document.querySelectorAll('#examples button')[{number}].click()")
        wait(browser, "!isRunning() && shown.found !== null")
        assert state(browser, "shown.found.summary.n_clusters") == count
    assert state(browser, "element('downloads').children.length") == 4


def test_a_stop_ends_the_work_and_the_next_one_runs(open_page, inputs):
    browser = open_page()
    choose(browser, inputs / "photo.jpg", 12)
    browser.find_element(By.ID, "run").click()
    wait(browser, "element('stage').textContent !== 'Starting'")
    started = time.monotonic()
    browser.find_element(By.ID, "stop").click()
    wait(browser, "!isRunning()")
    assert time.monotonic() - started < 2
    assert "Stopped after" in state(browser, "element('problem').textContent")
    state(browser, "document.querySelectorAll('#examples button')[1].click()")
    wait(browser, "!isRunning() && shown.found?.summary.n_nodes === 34")
    assert state(browser, "element('problem').hidden")


def test_where_memory_is_shared_a_stop_keeps_the_best_so_far(open_page, site, inputs):
    browser = open_page(f"{site}/isolated/playground/index.html")
    assert state(browser, "crossOriginIsolated")
    choose(browser, inputs / "edges.txt", 20)
    state(browser, "element('preset').value = 'best', changed()")
    browser.find_element(By.ID, "run").click()
    wait(browser, "element('stage').textContent.includes('best objective')")
    browser.find_element(By.ID, "stop").click()
    wait(browser, "!isRunning() && shown.found !== null")
    assert state(browser, "shown.found.summary.stop_reason") == "cancelled"
    assert state(browser, "shown.found.summary.n_clusters") == 20


def test_a_time_limit_keeps_the_best_so_far(open_page, inputs):
    browser = open_page()
    choose(browser, inputs / "edges.txt", 20)
    state(browser, "element('preset').value = 'best', element('time-limit').value = 1, changed()")
    cluster(browser)
    assert state(browser, "shown.found.summary.stop_reason") == "time-limit"


def test_everything_is_reached_by_keyboard(open_page):
    browser = open_page()
    ActionChains(browser).send_keys(Keys.TAB).perform()
    seen = []
    for _ in range(30):
        # After the last the browser itself has the focus.
        at = "(at => at === document.body ? '' : at.id || at.name || at.textContent)(document.activeElement)"
        seen.append(state(browser, at))
        outline = "getComputedStyle(document.activeElement.closest('.switch') && document.activeElement.nextElementSibling "
        outline += "|| document.activeElement.closest('.drop') || document.activeElement).outlineStyle"
        assert seen[-1] == "" or state(browser, outline) in ("solid", "auto"), f"the focus is seen on {seen[-1]}"
        ActionChains(browser).send_keys(Keys.TAB).perform()
    assert {"theme", "kind", "file", "text", "count", "clusters", "preset", "objective", "run"} <= set(seen)
    # Written, clustered and stopped without a mouse.
    state(browser, "element('text').focus()")
    ActionChains(browser).send_keys("a b\nb c\nc a\nc d\nd e\ne f\nf d\n").perform()
    ActionChains(browser).key_down(Keys.CONTROL).send_keys(Keys.ENTER).key_up(Keys.CONTROL).perform()
    wait(browser, "!isRunning() && shown.found?.summary.n_nodes === 6")
    assert state(browser, "document.activeElement.id") == "result-title"


def test_while_it_works_the_focus_is_on_stop(open_page, inputs):
    browser = open_page()
    choose(browser, inputs / "photo.jpg", 12)
    state(browser, "element('run').focus()")
    ActionChains(browser).send_keys(Keys.ENTER).perform()
    wait(browser, "document.activeElement.id === 'stop'")
    wait(browser, "parseFloat(element('elapsed').textContent) > 0.3")
    ActionChains(browser).send_keys(Keys.ENTER).perform()
    wait(browser, "!isRunning()")
    assert state(browser, "document.activeElement.id") == "run"


def test_a_bad_line_is_told_in_the_words_of_the_library(open_page):
    browser = open_page()
    browser.find_element(By.ID, "text").send_keys("1 2\n2 3\n3 x -4\n")
    browser.find_element(By.ID, "run").click()
    wait(browser, "!element('problem').hidden")
    assert "graph.txt, line 3" in state(browser, "element('problem').textContent")
    browser.find_element(By.ID, "text").clear()
    browser.find_element(By.ID, "run").click()
    assert "nothing to cluster" in state(browser, "element('problem').textContent")


def test_a_file_is_dropped(open_page):
    browser = open_page()
    drop = """
        const transfer = new DataTransfer();
        transfer.items.add(new File(["a,b\\n1.5,2\\n1.6,2\\n9,9\\n9,8\\n"], "points.csv"));
        document.getElementById("drop").dispatchEvent(new DragEvent("drop", {dataTransfer: transfer, bubbles: true}));
    """
    browser.execute_script(drop)
    wait(browser, "input.name === 'points.csv'")
    assert state(browser, "kind()") == "points"


def test_labels_and_the_report_are_downloaded(open_page, downloads):
    browser = open_page()
    state(browser, "document.querySelectorAll('#examples button')[0].click()")
    wait(browser, "!isRunning() && shown.found !== null")
    for link in browser.find_elements(By.CSS_SELECTOR, "#downloads a"):
        link.click()
    wanted = {"miserables-labels.txt", "miserables-labels.csv", "miserables-report.html"}
    end = time.monotonic() + 20
    while {path.name for path in downloads.iterdir()} != wanted:
        assert time.monotonic() < end, list(downloads.iterdir())
        time.sleep(0.1)
    assert (downloads / "miserables-labels.csv").read_text().startswith("Napoleon,0\n")


def test_it_fits_a_phone(open_page):
    browser = open_page()
    size = {"width": 390, "height": 844, "deviceScaleFactor": 2, "mobile": True}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    try:
        for number in (0, 3, 5):
            state(browser, "shown.found = null")
            state(browser, f"document.querySelectorAll('#examples button')[{number}].click()")
            wait(browser, "!isRunning() && shown.found !== null")
            time.sleep(0.5)
            assert state(browser, "document.documentElement.scrollWidth") == 390
            frame = "element('report').contentDocument.documentElement"
            assert state(browser, f"{frame}.scrollWidth <= element('report').clientWidth")
            assert state(browser, f"{frame}.scrollHeight <= element('report').clientHeight + 4")
    finally:
        browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})


def test_light_and_dark_go_to_the_report_too(open_page):
    browser = open_page()
    state(browser, "document.querySelectorAll('#examples button')[1].click()")
    wait(browser, "!isRunning() && shown.found !== null")
    wait(browser, "element('report').contentDocument?.documentElement.dataset.theme !== undefined")
    grounds = set()
    for _ in range(2):
        browser.find_element(By.ID, "theme").click()
        page = state(browser, "getComputedStyle(document.documentElement).backgroundColor")
        report = state(browser, "getComputedStyle(element('report').contentDocument.documentElement).backgroundColor")
        assert page == report
        grounds.add(page)
    assert len(grounds) == 2


def test_the_page_may_not_ask_the_network(chrome, site):
    chrome.get(f"{site}/playground/index.html")
    wait(chrome, "document.documentElement.dataset.ready !== undefined")
    asking = "const [done] = arguments; fetch('index.html').then(() => done('asked'), () => done('refused'))"
    assert chrome.execute_async_script(asking) == "refused"
    chrome.get_log("browser")


def test_times_are_printed(capsys):
    with capsys.disabled():
        for name, seconds, waited, load in MEASURED:
            busy = f"{waited:.1f} of them waiting for a processor, load {load:.1f}"
            print(f"\n{name}: {seconds:.1f} s ({busy})", end="")
