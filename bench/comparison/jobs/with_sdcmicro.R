# Risks and perturbation by sdcMicro: Rscript with_sdcmicro.R TASK WARM PATH
suppressMessages(library(sdcMicro))

keys <- c("sex", "age", "race", "status", "school", "country", "sector", "job")
read <- function(path) as.data.frame(data.table::fread(path))
coded <- function(path) {
  data <- read(path)
  for (name in keys) data[[name]] <- as.integer(factor(data[[name]]))
  data$weight <- 1
  data
}
jobs <- list(
  "individual-risk" = function(path) {
    data <- coded(path)
    counted <- freqCalc(data, keyVars = match(keys, names(data)), w = match("weight", names(data)))
    sum(indivRisk(counted)$rk)
  },
  "suda" = function(path) sum(suda2(coded(path)[keys])$score > 0),
  "rank-swap" = function(path) {
    data <- read(path)
    nrow(rankSwap(data, variables = names(data), P = 0.05, TopPercent = 0, BottomPercent = 0))
  },
  "microaggregate" = function(path) nrow(microaggregation(read(path), method = "mdav", aggr = 3)$mx)
)
words <- commandArgs(trailingOnly = TRUE)
job <- jobs[[words[1]]]
invisible(job(words[2]))
before <- proc.time()
answer <- job(words[3])
took <- proc.time() - before
status <- readLines("/proc/self/status")
memory <- as.numeric(gsub("[^0-9]", "", grep("VmHWM", status, value = TRUE))) / 1024
cat(sprintf(
  '{"cpu": %.6f, "wall": %.6f, "memory": %.1f, "answer": %s, "versions": {"sdcMicro": "%s"}}\n',
  sum(took[c("user.self", "sys.self")]), took["elapsed"], memory, format(answer, digits = 8), packageVersion("sdcMicro")
))
