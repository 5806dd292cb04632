; x86-64-v4
define internal void @"point"(ptr %".1", ptr %".2", ptr noalias %".3", i64 %".4") alwaysinline
{
entry:
  br label %"start"
start:
  %".6" = getelementptr i64, ptr %".1", i64 -1
  %".7" = getelementptr i64, ptr %".2", i64 0
  %".8" = load i64, ptr %".7"
  %".9" = getelementptr i64, ptr %".2", i64 1
  %".10" = load i64, ptr %".9"
  %".11" = getelementptr i64, ptr %".2", i64 2
  %".12" = load i64, ptr %".11"
  %".13" = urem i64 %".4", %".12"
  %".14" = udiv i64 %".4", %".12"
  %".15" = urem i64 %".14", %".10"
  %".16" = udiv i64 %".14", %".10"
  %".17" = getelementptr ptr, ptr %".1", i64 0
  %".18" = load ptr, ptr %".17"
  %".19" = getelementptr ptr, ptr %".1", i64 1
  %".20" = load ptr, ptr %".19"
  %".21" = getelementptr ptr, ptr %".1", i64 2
  %".22" = load ptr, ptr %".21"
  %".23" = getelementptr ptr, ptr %".1", i64 3
  %".24" = load ptr, ptr %".23"
  %".25" = trunc i64 %".16" to i32
  %".26" = trunc i64 %".15" to i32
  %".27" = trunc i64 %".13" to i32
  %".28" = trunc i64 %".8" to i32
  %".29" = trunc i64 %".10" to i32
  %".30" = trunc i64 %".12" to i32
  %".31" = trunc i64 %".16" to i32
  %".32" = trunc i64 %".15" to i32
  %".33" = trunc i64 %".13" to i32
  %".34" = sext i32 %".31" to i64
  %".35" = mul i64 %".34", 4
  %".36" = sext i32 %".33" to i64
  %".37" = mul i64 %".36", 8
  %".38" = mul i64 %".35", 8
  %".39" = add i64 %".38", %".37"
  %".40" = getelementptr float, ptr %".18", i64 %".39"
  %".41" = trunc i64 %".16" to i32
  %".42" = trunc i64 %".15" to i32
  %".43" = trunc i64 %".13" to i32
  %".44" = sext i32 %".43" to i64
  %".45" = mul i64 %".44", 8
  %".46" = sext i32 %".42" to i64
  %".47" = mul i64 %".46", 16
  %".48" = mul i64 %".45", 16
  %".49" = add i64 %".48", %".47"
  %".50" = getelementptr float, ptr %".20", i64 %".49"
  %".51" = trunc i64 %".16" to i32
  %".52" = trunc i64 %".15" to i32
  %".53" = trunc i64 %".13" to i32
  %".54" = sext i32 0 to i64
  %".55" = sext i32 %".52" to i64
  %".56" = mul i64 %".55", 16
  %".57" = mul i64 %".54", 16
  %".58" = add i64 %".57", %".56"
  %".59" = getelementptr float, ptr %".22", i64 %".58"
  %".60" = trunc i64 %".16" to i32
  %".61" = trunc i64 %".15" to i32
  %".62" = trunc i64 %".13" to i32
  %".63" = sext i32 %".60" to i64
  %".64" = mul i64 %".63", 4
  %".65" = sext i32 %".61" to i64
  %".66" = mul i64 %".65", 16
  %".67" = mul i64 %".64", 16
  %".68" = add i64 %".67", %".66"
  %".69" = getelementptr float, ptr %".24", i64 %".68"
  %".70" = getelementptr i8, ptr %".3", i64 0
  %".71" = getelementptr i8, ptr %".3", i64 1024
  br label %"loop"
loop:
  %"i" = phi  i64 [0, %"start"], [%".148", %"done.1"]
  %".73" = icmp slt i64 %"i", 16
  br i1 %".73", label %"body", label %"done"
body:
  br label %"k"
done:
  ret void
k:
  %".76" = phi  i64 [0, %"body"], [%".110", %"k.body"]
  %".77" = phi  <16 x float> [splat (float              0x0), %"body"], [%".91", %"k.body"]
  %".78" = phi  <16 x float> [splat (float              0x0), %"body"], [%".97", %"k.body"]
  %".79" = phi  <16 x float> [splat (float              0x0), %"body"], [%".103", %"k.body"]
  %".80" = phi  <16 x float> [splat (float              0x0), %"body"], [%".109", %"k.body"]
  %".81" = icmp slt i64 %".76", 8
  br i1 %".81", label %"k.body", label %"k.done"
k.body:
  %".83" = mul i64 %".76", 16
  %".84" = add i64 %".83", %"i"
  %".85" = getelementptr inbounds float, ptr %".50", i64 %".84"
  %".86" = load <16 x float>, ptr %".85", align 4
  %".87" = getelementptr inbounds float, ptr %".40", i64 %".76"
  %".88" = load float, ptr %".87", align 4
  %".89" = insertelement <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, float %".88", i32 0
  %".90" = shufflevector <16 x float> %".89", <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <16 x i32> splat (i32 0)
  %".91" = call <16 x float> @"llvm.fma.v16f32"(<16 x float> %".90", <16 x float> %".86", <16 x float> %".77")
  %".92" = add i64 8, %".76"
  %".93" = getelementptr inbounds float, ptr %".40", i64 %".92"
  %".94" = load float, ptr %".93", align 4
  %".95" = insertelement <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, float %".94", i32 0
  %".96" = shufflevector <16 x float> %".95", <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <16 x i32> splat (i32 0)
  %".97" = call <16 x float> @"llvm.fma.v16f32"(<16 x float> %".96", <16 x float> %".86", <16 x float> %".78")
  %".98" = add i64 16, %".76"
  %".99" = getelementptr inbounds float, ptr %".40", i64 %".98"
  %".100" = load float, ptr %".99", align 4
  %".101" = insertelement <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, float %".100", i32 0
  %".102" = shufflevector <16 x float> %".101", <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <16 x i32> splat (i32 0)
  %".103" = call <16 x float> @"llvm.fma.v16f32"(<16 x float> %".102", <16 x float> %".86", <16 x float> %".79")
  %".104" = add i64 24, %".76"
  %".105" = getelementptr inbounds float, ptr %".40", i64 %".104"
  %".106" = load float, ptr %".105", align 4
  %".107" = insertelement <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, float %".106", i32 0
  %".108" = shufflevector <16 x float> %".107", <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <16 x i32> splat (i32 0)
  %".109" = call <16 x float> @"llvm.fma.v16f32"(<16 x float> %".108", <16 x float> %".86", <16 x float> %".80")
  %".110" = add i64 %".76", 1
  br label %"k"
k.done:
  %".112" = getelementptr inbounds float, ptr %".70", i64 0
  store <16 x float> %".77", ptr %".112", align 4
  %".114" = getelementptr inbounds float, ptr %".70", i64 64
  store <16 x float> %".78", ptr %".114", align 4
  %".116" = getelementptr inbounds float, ptr %".70", i64 128
  store <16 x float> %".79", ptr %".116", align 4
  %".118" = getelementptr inbounds float, ptr %".70", i64 192
  store <16 x float> %".80", ptr %".118", align 4
  br label %"loop.1"
loop.1:
  %"i.1" = phi  i64 [0, %"k.done"], [%".146", %"body.1"]
  %".121" = icmp slt i64 %"i.1", 4
  br i1 %".121", label %"body.1", label %"done.1"
body.1:
  %".123" = mul i64 %"i.1", 64
  %".124" = getelementptr inbounds float, ptr %".70", i64 %".123"
  %".125" = load <16 x float>, ptr %".124", align 4
  %".126" = getelementptr inbounds float, ptr %".59", i64 %"i"
  %".127" = load <16 x float>, ptr %".126", align 4
  %".128" = fadd <16 x float> %".125", %".127"
  %".129" = insertelement <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, float 0x3fa2444f20000000, i32 0
  %".130" = shufflevector <16 x float> %".129", <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <16 x i32> splat (i32 0)
  %".131" = fmul <16 x float> %".128", %".130"
  %".132" = fmul <16 x float> %".131", %".128"
  %".133" = insertelement <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, float 0x3fe9884540000000, i32 0
  %".134" = shufflevector <16 x float> %".133", <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <16 x i32> splat (i32 0)
  %".135" = fadd <16 x float> %".132", %".134"
  %".136" = fmul <16 x float> %".128", %".135"
  %".137" = insertelement <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, float 0x4000000000000000, i32 0
  %".138" = shufflevector <16 x float> %".137", <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <16 x i32> splat (i32 0)
  %".139" = fmul <16 x float> %".136", %".138"
  %".140" = call <16 x float> @"tilewright.logistic.v16f32"(<16 x float> %".139")
  %".141" = fmul <16 x float> %".128", %".140"
  %".142" = mul i64 %"i.1", 16
  %".143" = add i64 %".142", %"i"
  %".144" = getelementptr inbounds float, ptr %".69", i64 %".143"
  store <16 x float> %".141", ptr %".144", align 4
  %".146" = add i64 %"i.1", 1
  br label %"loop.1"
done.1:
  %".148" = add i64 %"i", 16
  br label %"loop"
}
