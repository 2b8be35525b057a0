// Generalisation by ARX: java -cp ARX.jar WithArx.java TASK WARM PATH
import java.lang.management.ManagementFactory;
import java.nio.charset.StandardCharsets;
import java.nio.file.*;
import java.util.*;
import org.deidentifier.arx.*;
import org.deidentifier.arx.AttributeType.Hierarchy;
import org.deidentifier.arx.criteria.KAnonymity;
import org.deidentifier.arx.metric.Metric;

public class WithArx {
    static final int[] WIDTHS = {5, 10, 20};

    public static void main(String[] words) throws Exception {
        boolean local = words[0].equals("local-generalise");
        generalise(words[1], local);
        long clock = System.nanoTime(), cpu = spent();
        long answer = generalise(words[2], local);
        System.out.printf(Locale.ROOT, "{\"cpu\": %.6f, \"wall\": %.6f, \"memory\": %.1f, \"answer\": %d, \"versions\": {}}%n",
            (spent() - cpu) / 1e9, (System.nanoTime() - clock) / 1e9, peak(), answer);
    }

    // The records that are suppressed.
    static long generalise(String path, boolean local) throws Exception {
        Data data = Data.create(path, StandardCharsets.UTF_8, ',');
        DataHandle rows = data.getHandle();
        for (int i = 0; i < rows.getNumColumns(); i++) {
            String name = rows.getAttributeName(i);
            if (name.equals("pay")) {
                data.getDefinition().setAttributeType(name, AttributeType.INSENSITIVE_ATTRIBUTE);
                continue;
            }
            List<String[]> levels = new ArrayList<>();
            for (String value : rows.getDistinctValues(i)) levels.add(levels(name, value));
            data.getDefinition().setAttributeType(name, Hierarchy.create(levels.toArray(new String[0][])));
        }
        ARXConfiguration wanted = ARXConfiguration.create();
        wanted.addPrivacyModel(new KAnonymity(5));
        wanted.setSuppressionLimit(local ? 0.99d : 0.05d);
        wanted.setQualityModel(Metric.createLossMetric());
        ARXResult result = new ARXAnonymizer().anonymize(data, wanted);
        DataHandle output = result.getOutput();
        if (local) result.optimizeIterativeFast(output, 0.01d);
        return output.getStatistics().getEquivalenceClassStatistics().getNumberOfSuppressedRecords();
    }

    static String[] levels(String name, String value) {
        if (!name.equals("age")) return new String[] {value, value.substring(0, value.length() - 1) + ".", "*"};
        String[] out = new String[WIDTHS.length + 2];
        out[0] = value;
        out[out.length - 1] = "*";
        for (int i = 0; i < WIDTHS.length; i++) {
            int low = Integer.parseInt(value) / WIDTHS[i] * WIDTHS[i];
            out[i + 1] = low + " to " + (low + WIDTHS[i] - 1);
        }
        return out;
    }

    static long spent() {
        return ((com.sun.management.OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean()).getProcessCpuTime();
    }

    // The largest resident memory in MB.
    static double peak() throws Exception {
        for (String line : Files.readAllLines(Path.of("/proc/self/status")))
            if (line.startsWith("VmHWM")) return Long.parseLong(line.replaceAll("[^0-9]", "")) / 1024.0;
        return 0;
    }
}
